"""Marginals of several modes of a dense field as channels: the modes side by side, label after label."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads, kernels
from mixfield.energy.dense_crf import DenseCRF
from mixfield.energy.unary import FORBIDDEN
from mixfield.filters.buffers import room
from mixfield.solvers.tilt import Tilt

Float32s = NDArray[np.float32]


def no_bias(crf: DenseCRF) -> Float32s:
    """No additional costs: (n, 0)."""
    return np.empty((crf.n, 0), np.float32)


def bias_of(tilt: Tilt) -> Float32s:
    """Additional costs of a tilt as channels (n, L * K), in single precision; (n, 0) if all are zero."""
    costs = np.minimum(tilt.bias, FORBIDDEN).astype(np.float32)
    mine = costs[tilt.bias_of] if costs.any() else costs[:0]
    return np.ascontiguousarray(mine.transpose(1, 2, 0)).reshape(costs.shape[1], -1)


def pack(crf: DenseCRF, q: NDArray[np.floating]) -> Float32s:
    """Marginals (K, n, L) as channels (n, channels * K, rounded up): the modes side by side, label after label."""
    values = room(crf.n, crf.width(len(q)))
    by_label(crf, values, len(q))[:] = q[..., : crf.channels].transpose(1, 2, 0)
    return values


def unpack(crf: DenseCRF, values: Float32s, n_modes: int) -> NDArray[Any]:
    """Channels (n, channels * K, rounded up) as marginals (K, n, L)."""
    return _completed(crf.costs, by_label(crf, values, n_modes).transpose(2, 0, 1))


def members(
    crf: DenseCRF, values: Float32s, n_modes: int, mode: int, points: NDArray[np.int64], labels: NDArray[np.int64]
) -> Float32s:
    """(p,) probabilities of one label of each of some pixels in one of the modes."""
    known, n_labels = by_label(crf, values, n_modes)[..., mode], crf.n_labels
    if crf.channels == n_labels or not (labels == n_labels - 1).any():
        return np.asarray(known[points, labels])
    return np.asarray(_completed(crf.costs[points], known[points])[np.arange(len(points)), labels])


def _completed(costs: Float32s, known: Float32s) -> Float32s:
    """Probabilities (..., n, channels) of all or all but the last of the labels, as those of all (..., n, L)."""
    channels, n_labels = known.shape[-1], costs.shape[-1]
    q = np.empty((*known.shape[:-1], n_labels), np.float32)
    q[..., :channels] = known
    if channels < n_labels:
        rest = 1.0 - sum(q[..., c] for c in range(channels))
        q[..., -1] = np.where(costs[:, -1] < FORBIDDEN, np.maximum(0.0, rest), 0.0)
    return q


def columns(crf: DenseCRF, values: Float32s, n_modes: int, modes: NDArray[np.intp]) -> Float32s:
    """Channels of some of the modes."""
    some = room(crf.n, crf.width(len(modes)))
    by_label(crf, some, len(modes))[:] = by_label(crf, values, n_modes)[..., modes]
    return some


def by_label(crf: DenseCRF, values: Float32s, n_modes: int) -> Float32s:
    """Channels as (n, channels, K), the same memory."""
    return values[:, : n_modes * crf.channels].reshape(crf.n, crf.channels, n_modes)


def labelings(crf: DenseCRF, values: Float32s, n_modes: int, threads: int) -> NDArray[np.int32]:
    """(K, n) the most probable label of each pixel in each mode."""
    labels = np.empty((n_modes, crf.n), np.int32)

    def work(first: int, last: int) -> None:
        kernels.softmax.likeliest(crf.costs, values, crf.channels, n_modes, first, last, labels)

    _threads.split(work, crf.n, threads, updates=values.size)
    return labels
