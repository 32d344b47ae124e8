"""Label probabilities of an image from network scores, a label map with unknown pixels, or scribbles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield._pictures import resize_bilinear, same_aspect
from mixfield.errors import InfeasibleError, MixfieldError

Float32s = NDArray[np.float32]

UNKNOWN = (-1, 255)
CERTAINTY = 0.9
ROUNDING = 1e-5  # of sums: probabilities of a pixel that sum to one up to this are left as they are


def probabilities(
    scores: ArrayLike,
    shape: tuple[int, int],
    *,
    logits: bool = False,
    certainty: float = CERTAINTY,
    unknown: Sequence[int] = UNKNOWN,
    n_labels: int | None = None,
) -> Float32s:
    """(H, W, L) probabilities of the labels of an image of ``shape`` (H, W), which sum to one at each pixel.

    Parameters
    ----------
    scores : one of

        - (H, W, L) probabilities, not below zero, or (L, H, W) if (H, W, L) does not fit the image; they are divided
          by their sums, unless these are one up to `ROUNDING`;
        - (H, W) floats: the probability of label 1, the other label being 0;
        - (H, W) integers or booleans: a label map or scribbles.

        Another resolution with the same aspect ratio is resized by bilinear interpolation.
    logits : the scores are logits or log-probabilities.
    certainty : probability of the label that a label map gives; the other labels share the rest.
    unknown : values of a label map that mean an unknown label.
    n_labels : number of labels of a label map; by default its largest label plus one.
    """
    array = _arrays.as_numpy("scores", scores)
    if array.ndim not in (2, 3) or array.size == 0 or array.dtype.kind not in "buif":
        raise MixfieldError(
            "scores must be an array (H, W, L) of probabilities or (H, W) of labels, "
            f"got shape {array.shape} of {array.dtype}"
        )
    if array.ndim == 3:
        array = _labels_last(array, shape)
    _check_size(array, shape)
    if array.ndim == 2 and array.dtype.kind in "bui":
        if logits:
            raise MixfieldError("scores must be floats with logits=True, got a label map of integers")
        return resize_bilinear(from_labels(array, certainty=certainty, unknown=unknown, n_labels=n_labels), shape)
    if np.isnan(array).any():
        where = tuple(int(i) for i in np.argwhere(np.isnan(array))[0])
        raise MixfieldError(f"scores must not contain NaN, got one at index {where}")
    if logits:
        return _softmax(resize_bilinear(_two_sided(array.astype(np.float32, copy=False), 0.0), shape))
    return resize_bilinear(_checked(_two_sided(array.astype(np.float32, copy=False), 1.0)), shape)


def from_labels(
    labels: ArrayLike,
    *,
    certainty: float = CERTAINTY,
    unknown: Sequence[int] = UNKNOWN,
    n_labels: int | None = None,
) -> Float32s:
    """(H, W, L) probabilities of a label map (H, W) that is right with probability ``certainty``."""
    array = _arrays.as_numpy("labels", labels).astype(np.int64)
    known = ~np.isin(array, np.asarray(unknown, np.int64))
    if not known.any():
        raise MixfieldError(f"scores must give some pixel a label, got only unknown ones ({_listed(unknown)})")
    low, high = int(array[known].min()), int(array[known].max())
    count = high + 1 if n_labels is None else n_labels
    if low < 0 or high >= count:
        allowed = "labels not below 0" if n_labels is None else f"labels 0..{count - 1}"
        wrong = low if low < 0 else high
        raise MixfieldError(f"scores must hold {allowed} or unknown ({_listed(unknown)}), got {wrong}")
    if not 1 / max(count, 2) <= certainty <= 1:
        raise MixfieldError(f"certainty must lie between 1/L = {1 / max(count, 2):.3g} and 1, got {certainty!r}")
    probs = np.full((*array.shape, count), (1 - certainty) / max(count - 1, 1), np.float32)
    np.put_along_axis(probs, np.where(known, array, 0)[..., None], np.float32(certainty if count > 1 else 1), -1)
    probs[~known] = 1 / count
    return probs


def _labels_last(array: NDArray[np.generic], shape: tuple[int, int]) -> NDArray[np.generic]:
    """(h, w, L) from (L, h, w) if only that fits the image."""
    for fits in (tuple.__eq__, same_aspect):
        if fits(array.shape[:2], shape):
            return array
        if fits(array.shape[1:], shape):
            return np.moveaxis(array, 0, -1)
    return array


def _check_size(array: NDArray[np.generic], shape: tuple[int, int]) -> None:
    size = array.shape[:2]
    if size == shape or same_aspect(size, shape):
        return
    hint = "resize or crop them to the image first"
    if same_aspect(size[::-1], shape):
        hint = "width and height are swapped: rows come first, transpose the scores"
    elif array.ndim == 3 and same_aspect(array.shape[:0:-1], shape):
        hint = "they look like (L, W, H): rows come first and labels last, transpose the scores"
    raise MixfieldError(
        f"scores must have the height and width of the image, {shape[0]} x {shape[1]}, or its aspect, "
        f"got shape {array.shape}; {hint}"
    )


def _two_sided(array: Float32s, total: float) -> Float32s:
    """Scores (H, W, 2) that sum to ``total``, from those of label 1 (H, W)."""
    if array.ndim == 3:
        return array
    if total and array.max() > 1:
        raise MixfieldError(
            f"scores of shape (H, W) must be probabilities of label 1 or integers, got floats up to {array.max():.6g}; "
            "convert a label map to integers"
        )
    return np.stack([total - array, array] if total else [np.zeros_like(array), array], axis=-1)


def _checked(array: Float32s) -> Float32s:
    """Probabilities that sum to one; the array itself where they do."""
    if not np.isfinite(array).all() or (array < 0).any():
        raise MixfieldError(
            f"scores must be probabilities, finite and not below 0, got {array.min():.6g}..{array.max():.6g}; "
            "logits and log-probabilities need logits=True (--logits)"
        )
    total = array.sum(-1, dtype=np.float64)  # that of large numbers is beyond single precision
    if (total <= 0).any():
        pixel = tuple(int(i) for i in np.argwhere(total <= 0)[0])
        raise InfeasibleError(f"scores of pixel {pixel} are all zero; give at least one label a probability")
    other = np.abs(total - 1) > ROUNDING
    if not other.any():
        return array
    divisors = np.where(other, total, 1.0)[..., None]
    return np.divide(array, divisors, out=np.empty_like(array), casting="same_kind")


def _softmax(array: Float32s) -> Float32s:
    top = array.max(-1, keepdims=True)
    if not np.isfinite(top).all():
        pixel = tuple(int(i) for i in np.argwhere(~np.isfinite(top[..., 0]))[0])
        raise InfeasibleError(f"scores of pixel {pixel} must have a finite largest logit, got {top[pixel][0]}")
    odds = array - top
    np.exp(odds, out=odds)
    odds /= odds.sum(-1, keepdims=True)
    return odds


def _listed(values: Sequence[int]) -> str:
    return ", ".join(str(v) for v in values)
