"""Marginals in 16 bits: 65536 levels of the labels that occur, a fortieth of the size of a segmentation in float64.

For each label that occurs and each mode there is a plane of levels, the planes of later modes as differences from the
first (modulo 65536), which are mostly zero.  High and low bytes are stored apart, because high bytes compress well.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]

TOP = 65535  # the level of probability 1


def pack(marginals: NDArray[np.floating]) -> tuple[Ints, Bytes]:
    """The labels that occur (A,) and the bytes (2, A, K, n) of marginals (K, *shape, L).

    The most probable label of every variable stays the most probable.
    """
    q = marginals.reshape(len(marginals), -1, marginals.shape[-1])
    best = q.argmax(-1)[..., None]
    levels = np.rint(q * TOP).astype(np.int32)
    rounded = np.take_along_axis(levels, levels.argmax(-1)[..., None], -1)
    np.put_along_axis(levels, best, np.minimum(rounded + (levels.argmax(-1)[..., None] != best), TOP), -1)
    labels = np.flatnonzero(levels.any((0, 1)))
    planes = np.moveaxis(levels[..., labels], -1, 0).astype(np.uint16)
    planes[:, 1:] -= planes[:, :1]
    return labels, np.stack([planes >> 8, planes & 255]).astype(np.uint8)


def unpack(labels: Ints, packed: Bytes, shape: tuple[int, ...], n_labels: int) -> NDArray[np.float64]:
    """Marginals (K, *shape, L) that sum to one, from what `pack` returned.

    Each label is contiguous, so that memory is needed only for the labels that occur.
    Raises a ``ValueError`` if the parts do not fit one another.
    """
    if packed.ndim != 4 or packed.dtype != np.uint8 or packed.shape[:2] != (2, len(labels)):
        raise ValueError(f"levels must be bytes (2, {len(labels)}, K, n), got {packed.dtype} of shape {packed.shape}")
    if math.prod(shape) != packed.shape[3] or np.unique(labels).size != len(labels):
        raise ValueError(f"levels of {packed.shape[3]} variables do not fit the shape {shape}")
    if len(labels) == 0 or labels.min() < 0 or labels.max() >= n_labels:
        raise ValueError(f"labels of the levels must lie in 0..{n_labels - 1}")
    planes = (packed[0].astype(np.uint16) << 8) | packed[1]
    planes[:, 1:] += planes[:, :1]
    total = planes.sum(0, dtype=np.float64)
    if not total.all():
        raise ValueError("every variable must have a label")
    marginals = np.zeros((n_labels, *planes.shape[1:]))  # pages of labels that do not occur are never written
    for label, plane in zip(labels.tolist(), planes, strict=True):
        np.divide(plane, total, out=marginals[label])
    return np.moveaxis(marginals.reshape(n_labels, planes.shape[1], *shape), 0, -1)
