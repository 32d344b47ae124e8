"""What a block of a large image is solved from: probabilities, intensities, and where there are data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield._pictures import intensities
from mixfield.apps.blocks import Window
from mixfield.apps.evidence import CERTAINTY, UNKNOWN, probabilities
from mixfield.errors import MixfieldError
from mixfield.large.axes import PixelArray

Float32s = NDArray[np.float32]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class ScoreOptions:
    """How scores become probabilities, see `mixfield.segment`; ``n_labels`` is needed for label maps."""

    logits: bool = False
    certainty: float = CERTAINTY
    unknown: Sequence[int] = UNKNOWN
    n_labels: int | None = None


@dataclass(frozen=True, eq=False)
class BlockEvidence:
    """A window of a large image.

    Attributes
    ----------
    probs : (*shape, L) probabilities, equal ones where there are no data.
    picture : (*shape, channels) intensities from 0 to 255.
    valid : (*shape) pixels with data.
    """

    probs: Float32s
    picture: Float32s
    valid: Bools


def read_evidence(image: PixelArray, scores: PixelArray, window: Window, options: ScoreOptions) -> BlockEvidence:
    """The evidence of a window of an image and of its scores."""
    valid = read_mask(image, scores, window)
    picture = image.read(window)
    if image.channels is None:
        picture = picture[..., None]
    return block_evidence(picture, scores.read(window), valid, options)


def read_mask(image: PixelArray, scores: PixelArray, window: Window) -> Bools | None:
    """Pixels of a window with data in both files; None if no file has a mask."""
    masks = [mask for array in (image, scores) if (mask := array.source.mask(window)) is not None]
    return np.logical_and.reduce(masks) if masks else None


def score_probabilities(scores: NDArray[Any], axes: int, valid: Bools | None, options: ScoreOptions) -> Float32s:
    """(pixels, L) probabilities of the pixels of a window of ``axes`` axes that have data."""
    known = _has_scores(scores, axes, options)
    known &= True if valid is None else valid
    rows = scores[known][:, None]  # as one column of pixels
    n_labels = scores.shape[-1] if scores.ndim > axes else options.n_labels or 2
    return _probabilities(rows, options)[:, 0] if len(rows) else np.zeros((0, n_labels), np.float32)


def block_evidence(
    image: NDArray[Any], scores: NDArray[Any], valid: Bools | None, options: ScoreOptions
) -> BlockEvidence:
    """Evidence of a window from an image (*shape, channels) and scores (*shape, L) or (*shape), see `segment_large`.

    Pixels whose scores are NaN or all zero have no data, nor have those that ``valid`` leaves out.
    """
    shape = image.shape[:-1]
    known = np.ones(shape, bool) if valid is None else valid.copy()
    known &= _has_scores(scores, len(shape), options)
    rows = (-1, shape[-1])  # functions for images see the slices of a volume below each other
    finite = np.where(np.isfinite(image), image, 0) if image.dtype.kind == "f" else image
    picture = intensities(finite.reshape(*rows, image.shape[-1]))
    flat = np.where(known.reshape(known.shape + (1,) * (scores.ndim - known.ndim)), scores, _filler(scores, options))
    probs = _probabilities(flat.reshape(*rows, *scores.shape[len(shape) :]), options)
    return BlockEvidence(probs.reshape(*shape, -1), picture.reshape(*shape, -1), known)


def _has_scores(scores: NDArray[Any], axes: int, options: ScoreOptions) -> Bools:
    """(*shape) pixels whose scores are numbers, not all of them zero if they are probabilities."""
    by_label = scores if scores.ndim > axes else scores[..., None]
    known = ~np.isnan(by_label).any(-1) if scores.dtype.kind == "f" else np.ones(by_label.shape[:-1], bool)
    if scores.ndim > axes and not options.logits:
        known &= (by_label != 0).any(-1)
    return np.asarray(known)


def _filler(scores: NDArray[Any], options: ScoreOptions) -> Any:
    """A score of pixels without data: equal probabilities of all labels."""
    if scores.dtype.kind == "f":
        return scores.dtype.type(0.0 if options.logits else 0.5)
    return scores.dtype.type(1)  # probabilities as integers; in a label map, a label that is not used


def _probabilities(scores: NDArray[Any], options: ScoreOptions) -> Float32s:
    """(h, w, L) from scores (h, w, L) or (h, w)."""
    if scores.ndim == 2 and scores.dtype.kind in "bui" and np.isin(scores, options.unknown).all():
        assert options.n_labels is not None
        return np.full((*scores.shape, options.n_labels), 1 / options.n_labels, np.float32)
    height, width = scores.shape[:2]
    return probabilities(
        scores,
        (height, width),
        logits=options.logits,
        certainty=options.certainty,
        unknown=options.unknown,
        n_labels=options.n_labels,
    )


def count_labels(scores: PixelArray, options: ScoreOptions) -> int:
    """Number of labels, without reading the scores."""
    if scores.channels is not None:
        return scores.channels
    if scores.source.dtype.kind == "f":
        return 2
    if options.n_labels is None:
        raise MixfieldError("n_labels must be given for a large label map: no block knows the largest label of all")
    return options.n_labels
