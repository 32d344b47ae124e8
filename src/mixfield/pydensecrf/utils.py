"""Unaries and features as `pydensecrf.utils` makes them: labels first, pixels flattened, float32."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.errors import MixfieldError
from mixfield.pydensecrf.inputs import bandwidths

Float32s = NDArray[np.float32]

_log = logging.getLogger(__name__)


def unary_from_labels(labels: ArrayLike, n_labels: int, gt_prob: float, zero_unsure: bool = True) -> Float32s:
    """Costs (L, n) of a label map that is right with some probability.

    Parameters
    ----------
    labels : integers of any shape; from 1 to L where ``zero_unsure``, 0 meaning unknown, else from 0 to L - 1.
    n_labels : L, not counting the unknown.
    gt_prob : probability of the given label, between 0 and 1; the other labels share the rest.
    zero_unsure : whether 0 means unknown: every label equally likely.

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(-unary_from_labels([0, 1, 2], 2, gt_prob=0.75)).round(2).tolist()
    [[0.5, 0.75, 0.25], [0.5, 0.25, 0.75]]
    """
    _arrays.at_least("n_labels", n_labels, 1)
    if not 0 < gt_prob < 1:
        raise MixfieldError(f"gt_prob must lie between 0 and 1, got {gt_prob}")
    first = int(zero_unsure)
    flat = _arrays.integers("labels", labels, low=0, high=n_labels + first).reshape(-1)
    costs = np.full((n_labels, flat.size), -np.log((1.0 - gt_prob) / max(n_labels - 1, 1)), np.float32)
    costs[flat - first, np.arange(flat.size)] = -np.log(gt_prob)
    if zero_unsure:
        costs[:, flat == 0] = np.log(n_labels)
    return costs


def unary_from_softmax(sm: ArrayLike, scale: float | None = None, clip: float | None = 1e-5) -> Float32s:
    """Costs (L, n) of probabilities (L, ...).

    Parameters
    ----------
    sm : probabilities, labels first.
    scale : trust in them, above 0 and at most 1: the rest is shared by all labels equally.
    clip : smallest probability; with ``None`` zeros become infinite costs, which forbid the label.

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(-unary_from_softmax([[0.0, 0.25], [1.0, 0.75]], scale=0.5)).round(3).tolist()
    [[0.25, 0.375], [0.75, 0.625]]
    """
    costs = np.array(sm, np.float32)
    if costs.ndim < 2 or costs.size == 0:
        raise MixfieldError(f"sm must have shape (L, ...), such as (L, H, W), got {costs.shape}")
    if np.isnan(costs.sum(dtype=np.float64)):
        raise MixfieldError("sm must hold probabilities, got NaN")
    if scale is not None:
        if not 0 < scale <= 1:
            raise MixfieldError(f"scale must be above 0 and at most 1, got {scale}")
        costs *= np.float32(scale)
        costs += np.float32((1 - scale) / len(costs))
    if clip is not None:
        np.clip(costs, np.float32(clip), np.float32(1.0), out=costs)
    with np.errstate(divide="ignore"):
        np.log(costs, out=costs)
    return np.negative(costs, out=costs).reshape(len(costs), -1)


def create_pairwise_gaussian(sdims: float | Sequence[float], shape: Sequence[int]) -> Float32s:
    """Features (d, n) of the smoothness kernel: positions divided by bandwidths.

    Parameters
    ----------
    sdims : bandwidth along each axis, or one for all.
    shape : of the image or volume, rows first.

    Examples
    --------
    >>> create_pairwise_gaussian(sdims=(1, 2), shape=(2, 2)).tolist()
    [[0.0, 0.0, 1.0, 1.0], [0.0, 0.5, 0.0, 0.5]]
    """
    sizes = tuple(int(size) for size in shape)
    features = np.empty((len(sizes), *sizes), np.float32)
    _fill_positions(features, sdims, sizes)
    return features.reshape(len(sizes), -1)


def create_pairwise_bilateral(
    sdims: float | Sequence[float], schan: float | Sequence[float], img: ArrayLike, chdim: int = -1
) -> Float32s:
    """Features (d + channels, n) of the appearance kernel: positions and intensities divided by bandwidths.

    Parameters
    ----------
    sdims : bandwidth along each axis of the image or volume, or one for all.
    schan : bandwidth of each channel, or one for all.
    img : intensities.
    chdim : axis of the channels; -1 if there is none.

    Examples
    --------
    >>> import numpy as np
    >>> create_pairwise_bilateral(sdims=(2, 2), schan=(10,), img=np.array([[0, 10], [20, 30]])).tolist()
    [[0.0, 0.0, 0.5, 0.5], [0.0, 0.5, 0.0, 0.5], [0.0, 1.0, 2.0, 3.0]]
    """
    image = np.asarray(img)
    image = image[None] if chdim == -1 else np.moveaxis(image, chdim, 0)
    sizes = image.shape[1:]
    features = np.empty((len(sizes) + len(image), *sizes), np.float32)
    _fill_positions(features, sdims, sizes)
    for channel, sigma in enumerate(bandwidths("schan", schan, len(image))):
        np.divide(image[channel], np.float32(sigma), out=features[len(sizes) + channel], casting="same_kind")
    return features.reshape(len(features), -1)


def compute_unary(labels: ArrayLike, M: int, GT_PROB: float = 0.5) -> Float32s:
    """An old name of `unary_from_labels`."""
    _log.warning("compute_unary is an old name of unary_from_labels")
    return unary_from_labels(labels, M, GT_PROB)


def softmax_to_unary(sm: ArrayLike, GT_PROB: float = 1) -> Float32s:
    """An old name of `unary_from_softmax`, without clipping."""
    _log.warning("softmax_to_unary is an old name of unary_from_softmax")
    return unary_from_softmax(sm, None if GT_PROB == 1 else GT_PROB, clip=None)


def _fill_positions(features: Float32s, sdims: float | Sequence[float], sizes: tuple[int, ...]) -> None:
    """Write positions divided by bandwidths into the first features."""
    for axis, sigma in enumerate(bandwidths("sdims", sdims, len(sizes))):
        line = np.arange(sizes[axis], dtype=np.float32) / np.float32(sigma)
        features[axis] = line.reshape(-1, *(1,) * (len(sizes) - axis - 1))
