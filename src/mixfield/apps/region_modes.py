"""The modes of a field over regions, and their label maps at the resolution of the image."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield._progress import Progress
from mixfield.apps.annotation_actions import Labels, label_type
from mixfield.apps.canvas import Canvas
from mixfield.apps.region_field import RegionField
from mixfield.apps.representatives import representatives
from mixfield.errors import MixfieldWarning
from mixfield.mixture.annealing_finder import Search
from mixfield.mixture.posterior import MixturePosterior
from mixfield.mixture.tree import infer
from mixfield.solvers.options import Solver

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]
Ints = NDArray[np.int64]

# a tenth of the default effort of `infer` finds modes with the same IoU (python -m experiments interactive)
SEARCH = Search(
    root=4, root_sweeps=40, flips=0, groups=8, polish=0, temperatures=4, leaf_sweeps=20, remembered=2
)  # fmt: skip
FOUND_PER_MODE = 3  # modes that are looked for, for each one that is returned


@dataclass(frozen=True, eq=False)
class RegionModes:
    """Some modes of a field over regions, the answer first.

    Attributes
    ----------
    field : the field.
    posterior : all modes that were found.
    chosen : numbers of those that represent the others, heaviest first.
    weights : (K,) of the chosen modes, with those that they represent.
    """

    field: RegionField
    posterior: MixturePosterior
    chosen: Ints
    weights: Floats

    def marginals(self, k: int) -> Floats:
        """(n, active labels) marginals of the regions in a chosen mode."""
        return self.posterior.modes[int(self.chosen[k])].marginals

    def labeling(self, k: int) -> Ints:
        """(n,) labels of the regions in a chosen mode."""
        return np.asarray(self.field.active[self.marginals(k).argmax(-1)])


def region_modes(
    field: RegionField,
    n_modes: int,
    *,
    rng: int | np.random.Generator = 0,
    solver: Solver | None = None,
    progress: Progress = False,
) -> RegionModes:
    """Look for modes and choose ``n_modes`` of them, or fewer if there are no more."""
    advance = _per_mode(progress) if callable(progress) else progress
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixfieldWarning)  # there may be fewer
        count = FOUND_PER_MODE * n_modes
        posterior = infer(  # whole modes: their marginals over pixels are a product
            field.energy, count, rng=rng, search=SEARCH, solver=solver, collapse=False, progress=advance
        )
    distinct = _distinct(posterior.labelings())
    weights = posterior.weights[distinct] / posterior.weights[distinct].sum()
    picked, pooled = representatives(posterior.labelings()[distinct], weights, field.graph.sizes, n_modes)
    return RegionModes(field, posterior, distinct[picked], pooled)


def _per_mode(progress: Callable[[int], object]) -> Callable[[int], object]:
    """Report the number of modes that will be returned, not of those that are looked for."""
    return lambda count: progress(count // FOUND_PER_MODE)


def _distinct(labelings: Ints) -> Ints:
    """The first of equal labelings."""
    return np.sort(np.unique(labelings, axis=0, return_index=True)[1])


def pixel_marginals(canvas: Canvas, field: RegionField, marginals: Floats, strokes: Ints) -> Float32s:
    """(H, W, active labels) marginals of the pixels: those of their regions, with borders that follow the image.

    Parameters
    ----------
    canvas : of the image.
    field : over its regions.
    marginals : (n, active labels) of the regions.
    strokes : (H, W) labels, of all labels, whose pixels are certain.
    """
    regions = marginals.astype(np.float32)[field.graph.regions]
    last = marginals.shape[1] - 1
    smooth = np.stack([canvas.border_filter.apply(regions[..., l], canvas.full) for l in range(last)], -1)
    probs = np.clip(np.concatenate([smooth, 1.0 - smooth.sum(-1, keepdims=True)], -1), 0.0, 1.0)
    probs /= probs.sum(-1, keepdims=True)
    known = strokes >= 0
    probs[known] = field.active == strokes[known][:, None]
    return np.asarray(probs, np.float32)


def pixel_labels(canvas: Canvas, found: RegionModes, k: int, strokes: NDArray[np.integer]) -> Labels:
    """(H, W) labels of a chosen mode: the largest of `pixel_marginals`."""
    marginals, active = found.marginals(k), found.field.active
    labels = np.zeros(canvas.shape, label_type(found.field.n_labels))
    if len(active) > 1:
        values = marginals[:, :-1].astype(np.float32)[found.field.graph.regions]
        canvas.border_filter.label(values, canvas.full, labels)
    if not np.array_equal(active, np.arange(len(active))):
        labels = active.astype(labels.dtype)[labels]
    known = strokes >= 0
    labels[known] = strokes[known]
    return labels
