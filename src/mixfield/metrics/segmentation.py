"""Intersection over union as in PASCAL VOC: over the pixels of all images together, without void pixels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.errors import MixfieldError

Counts = NDArray[np.int64]
VOID = 255


def confusion(truth: ArrayLike, labels: ArrayLike, n_labels: int | None = None, void: int | None = VOID) -> Counts:
    """(L, L) number of pixels by true label (rows) and predicted label (columns).

    Parameters
    ----------
    truth, labels : arrays of labels of one shape.
    n_labels : L; by default the largest label of either plus one.
    void : pixels with this true label are left out; with None, no pixel is.

    Notes
    -----
    The counts of several images can be added; PASCAL's measure is the mean of `iou` of the sum.
    """
    true, predicted = _arrays.as_numpy("truth", truth), _arrays.as_numpy("labels", labels)
    _arrays.check_shape("labels", predicted, true.shape, "= shape of truth")
    if true.dtype.kind not in "bui" or predicted.dtype.kind not in "bui":
        raise MixfieldError(f"truth and labels must hold integers, got {true.dtype} and {predicted.dtype}")
    keep = np.ones(true.shape, bool) if void is None else true != void
    true, predicted = true[keep].astype(np.int64), predicted[keep].astype(np.int64)
    count = int(max(true.max(initial=0), predicted.max(initial=0))) + 1 if n_labels is None else n_labels
    true = _arrays.integers("truth", true, low=0, high=count)
    predicted = _arrays.integers("labels", predicted, low=0, high=count)
    return np.bincount(true * count + predicted, minlength=count**2).reshape(count, count)


def iou(counts: ArrayLike) -> NDArray[np.float64]:
    """(L,) intersection over union of each label, NaN for labels that do not occur in the truth."""
    table = np.asarray(counts, np.float64)
    intersection = np.diag(table)
    union = table.sum(0) + table.sum(1) - intersection
    return np.where(table.sum(1) > 0, intersection / np.maximum(union, 1), np.nan)


def mean_iou(truth: ArrayLike, labels: ArrayLike, n_labels: int | None = None, void: int | None = VOID) -> float:
    """Mean intersection over union of the labels that occur in the truth, from 0 to 1.

    Parameters
    ----------
    truth, labels : one image, or many: arrays (..., H, W) of one shape, or lists of images of several sizes, whose
        pixels are counted together.
    n_labels, void : as for `confusion`.

    Returns
    -------
    float
        NaN if every pixel is void.

    Examples
    --------
    >>> import mixfield as mf
    >>> mf.metrics.mean_iou([[0, 0, 1, 255]], [[0, 1, 1, 1]])
    0.5
    """
    return average(confusion(_joined(truth), _joined(labels), n_labels, void))


def average(counts: ArrayLike) -> float:
    """Mean of `iou` over the labels that occur in the truth."""
    each = iou(counts)
    present = each[~np.isnan(each)]
    return float(present.mean()) if len(present) else float("nan")


def best_of(
    truth: ArrayLike, labelings: ArrayLike, n_labels: int | None = None, void: int | None = VOID
) -> tuple[int, float]:
    """The oracle: index and mean IoU of the best of several labelings (K, H, W) of an image with truth (H, W).

    Examples
    --------
    >>> import mixfield as mf
    >>> mf.metrics.best_of([[0, 0, 1]], [[[0, 1, 1]], [[0, 0, 1]]])
    (1, 1.0)
    """
    candidates = _arrays.as_numpy("labelings", labelings)
    if candidates.ndim == 0 or len(candidates) == 0:
        raise MixfieldError("labelings must hold at least one labeling, got none")
    scores = [mean_iou(truth, labels, n_labels, void) for labels in candidates]
    best = int(np.argmax(scores))
    return best, scores[best]


def _joined(images: ArrayLike) -> NDArray[np.integer]:
    """One array; images of several sizes are flattened and concatenated."""
    if isinstance(images, Sequence) and len({np.shape(image) for image in images}) > 1:
        return np.concatenate([np.ravel(image) for image in images])
    return _arrays.as_numpy("labels", images)
