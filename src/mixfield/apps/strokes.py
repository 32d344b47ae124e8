"""Strokes: a label map in which most pixels are unknown, segmented by regions.

Strokes are certain, and say what regions of similar colour and texture near them are, see
`mixfield.interactive.stroke_evidence`.  The modes are those of a Potts model over a thousand regions; their borders
follow the image by a guided filter.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield._pictures import intensities, same_aspect
from mixfield._progress import Progress
from mixfield.apps.evidence import UNKNOWN, from_labels
from mixfield.energy.active_labels import restored
from mixfield.errors import MixfieldError
from mixfield.interactive.canvas import Canvas
from mixfield.interactive.region_field import region_field
from mixfield.interactive.region_graph import slic_regions
from mixfield.interactive.region_modes import RegionModes, pixel_marginals, region_modes
from mixfield.mixture.posterior import MixturePosterior
from mixfield.solvers.mode import Mode
from mixfield.solvers.options import Solver

Ints = NDArray[np.int64]

MOSTLY = 0.5  # share of unknown pixels above which a label map is strokes
SUPERPIXELS = 400


def is_strokes(scores: ArrayLike, unknown: Sequence[int] = UNKNOWN) -> bool:
    """Whether scores are a label map (H, W) of which more than `MOSTLY` of the pixels, but not all, are unknown."""
    array = _arrays.as_numpy("scores", scores)
    if array.ndim != 2 or array.dtype.kind not in "iu" or array.size == 0:
        return False
    share = float(np.isin(array, np.asarray(unknown)).mean())
    return MOSTLY < share < 1


def segment_strokes(
    image: ArrayLike,
    strokes: ArrayLike,
    n_modes: int = 4,
    *,
    unknown: Sequence[int] = UNKNOWN,
    n_labels: int | None = None,
    rng: int | np.random.Generator = 0,
    solver: Solver | None = None,
    progress: Progress = None,
) -> MixturePosterior:
    """Several weighted segmentations from strokes; the parameters are those of `mixfield.segment`.

    Every mode has the label of each stroke on its pixels.  The weight of a mode is that of all modes that it stands
    for, see `mixfield.interactive.representatives`.
    """
    canvas = Canvas.of(image)
    labels, count = checked_strokes(strokes, canvas.plane, unknown, n_labels)
    field = region_field(canvas, canvas.reduce_labels(labels), count)
    found = region_modes(field, n_modes, rng=rng, solver=solver, progress=progress)
    return over_pixels(canvas, found, labels)


def over_pixels(canvas: Canvas, found: RegionModes, strokes: Ints) -> MixturePosterior:
    """The chosen modes of regions as modes of the pixels; their bounds are those of all modes that they stand for."""
    field, posterior = found.field, found.posterior
    modes = []
    for k, weight in enumerate(found.weights):
        marginals = pixel_marginals(canvas, field, found.marginals(k), strokes).astype(np.float64)
        marginals = restored(marginals, field.active, field.n_labels)
        modes.append(Mode(_arrays.frozen(marginals), posterior.log_z + float(np.log(weight))))
    return MixturePosterior(tuple(modes), t_max=posterior.t_max, notes=posterior.notes)


def checked_strokes(
    strokes: ArrayLike, shape: tuple[int, int], unknown: Sequence[int], n_labels: int | None
) -> tuple[Ints, int]:
    """(H, W) labels, -1 where unknown, and the number of labels; a `MixfieldError` if they do not fit the image."""
    array = _arrays.as_numpy("scores", strokes).astype(np.int64)
    probs = from_labels(array, unknown=unknown, n_labels=n_labels)  # checks the labels
    known = ~np.isin(array, np.asarray(unknown))
    labels = np.where(known, array, -1)
    if labels.shape != shape:
        labels = _resized(labels, shape)
    return labels, probs.shape[-1]


def stroke_labels(strokes: ArrayLike, unknown: Sequence[int] = UNKNOWN, n_labels: int | None = None) -> int:
    """The number of labels of strokes, see `checked_strokes`."""
    height, width = _arrays.as_numpy("scores", strokes).shape
    return checked_strokes(strokes, (height, width), unknown, n_labels)[1]


def _resized(labels: Ints, shape: tuple[int, int]) -> Ints:
    if not same_aspect(labels.shape, shape):
        raise MixfieldError(
            f"scores must have the height and width of the image, {shape[0]} x {shape[1]}, or its aspect, "
            f"got shape {labels.shape}; resize or crop them to the image first"
        )
    rows, columns = (np.arange(size) * old // size for size, old in zip(shape, labels.shape, strict=True))
    return np.asarray(labels[np.ix_(rows, columns)])


def slic_superpixels(image: ArrayLike, count: int = SUPERPIXELS) -> Ints:
    """(H, W) superpixels of an image, numbered from 0, by SLIC of scikit-image."""
    return slic_regions(intensities(image), count)
