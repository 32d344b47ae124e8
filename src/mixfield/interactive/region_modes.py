"""The modes of a field over regions, and their label maps at the resolution of the image."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield._progress import Progress
from mixfield.errors import MixfieldWarning
from mixfield.interactive.annotation_actions import Labels, label_type
from mixfield.interactive.candidate_maps import candidate_maps, kept_labels, map_ious
from mixfield.interactive.candidate_weights import candidate_model, candidate_probabilities
from mixfield.interactive.canvas import Canvas
from mixfield.interactive.corrections import Correction
from mixfield.interactive.region_candidates import Candidate, LastAction, candidates
from mixfield.interactive.region_field import RegionField
from mixfield.interactive.representatives import mean_ious, representatives
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
CONTRADICTED = 0.1  # share of the pixels of answers on which a labeling may contradict them
FOUND = 8  # modes that are looked for, at least
ANSWER = 0.3  # probability that the answer itself is right, before those of candidates are considered


@dataclass(frozen=True, eq=False)
class RegionModes:
    """Some labelings of regions, the answer first.

    Attributes
    ----------
    field : the field.
    posterior : its modes.
    candidates : the modes and other labelings, see `mixfield.interactive.region_candidates`.
    probabilities : (n,) of the candidates.
    chosen : (K,) numbers of the candidates that represent the others, heaviest first.
    weights : (K,) of the chosen candidates, with those that they represent.
    last : what was shown and changed last, None if nothing was.
    """

    field: RegionField
    posterior: MixturePosterior
    candidates: tuple[Candidate, ...]
    probabilities: Floats
    chosen: Ints
    weights: Floats
    last: LastAction | None = None

    def marginals(self, k: int) -> Floats:
        """(n, active labels) marginals of the regions in a chosen candidate."""
        return self.candidates[int(self.chosen[k])].marginals

    def labeling(self, k: int) -> Ints:
        """(n,) labels of the regions in a chosen candidate."""
        return np.asarray(self.field.active[self.candidates[int(self.chosen[k])].labels])

    def labelings(self) -> Ints:
        """(K, n) labels of the regions in all candidates."""
        return np.asarray(self.field.active[np.stack([one.labels for one in self.candidates])])


def region_modes(
    field: RegionField,
    n_modes: int,
    *,
    corrections: Sequence[Correction] = (),
    last: LastAction | None = None,
    local: Sequence[NDArray[np.bool_]] = (),
    answered: NDArray[np.integer] | None = None,
    rng: int | np.random.Generator = 0,
    solver: Solver | None = None,
    progress: Progress = False,
) -> RegionModes:
    """Look for labelings and choose ``n_modes`` of them, or fewer if there are no more.

    Parameters
    ----------
    field : of the regions.
    n_modes : how many, at most.
    corrections : clicks on segmentations that were shown.
    last : what was shown and changed last, None if nothing was.
    local : (h, w) sets of pixels that may change with it, see `mixfield.interactive.local_changes`.
    answered : (h, w) labels of the regions of answers, -1 elsewhere; labelings that contradict them are left out.
    rng, solver, progress : as for `mixfield.infer`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixfieldWarning)  # there may be fewer
        posterior = _search(field, n_modes, rng=rng, solver=solver, progress=progress)
        found = candidates(field, posterior.modes, last, local)
    maps = candidate_maps(field, found, last)
    if answered is not None:
        found, maps = _agreeing(found, maps, answered)
    model = candidate_model(has_scores=field.has_scores, corrected=bool(corrections))
    probabilities = candidate_probabilities(field, found, corrections, maps, model.weights)
    agreement = map_ious(maps) if local else mean_ious(np.stack([one.labels for one in found]), field.graph.sizes)
    answer = int((agreement @ probabilities).argmax())  # of the largest expected IoU
    offered = (1 - ANSWER) * _power(probabilities, model.flatness)
    offered[answer] += ANSWER
    chosen, pooled = representatives(agreement, offered, answer, n_modes)
    return RegionModes(field, posterior, tuple(found), offered, chosen, _power(pooled, model.spread), last)


def _search(
    field: RegionField, n_modes: int, *, rng: int | np.random.Generator, solver: Solver | None, progress: Progress
) -> MixturePosterior:
    """Modes of the field, `FOUND` or more."""
    advance = _at_most(progress, n_modes) if callable(progress) else progress
    return infer(  # whole modes: their marginals over pixels are a product
        field.energy,
        max(FOUND, n_modes),
        rng=rng,
        search=SEARCH,
        solver=solver,
        collapse=False,
        min_distance=0.0,
        progress=advance,
    )


def _agreeing(
    found: Sequence[Candidate], maps: Labels, answered: NDArray[np.integer]
) -> tuple[list[Candidate], Labels]:
    """The candidates that agree with answers (h, w) on most of the pixels, or nearly, and their maps (K, h, w)."""
    known = answered >= 0
    agreement = (maps[:, known] == answered[known]).mean(-1) if known.any() else np.ones(len(found))
    kept = np.flatnonzero(agreement >= agreement.max() - CONTRADICTED)
    return [found[k] for k in kept.tolist()], maps[kept]


def _power(probabilities: Floats, exponent: float) -> Floats:
    return np.asarray(probabilities**exponent / (probabilities**exponent).sum())


def _at_most(progress: Callable[[int], object], n_modes: int) -> Callable[[int], object]:
    """Report the number of modes that will be returned, not of those that are looked for."""
    return lambda count: progress(min(count, n_modes))


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
    """(H, W) labels of a chosen mode: the largest of `pixel_marginals`.

    With the scores of a network, a candidate that keeps what was shown keeps it pixel by pixel, if pixels of the canvas
    are those of the image.
    """
    marginals, active = found.marginals(k), found.field.active
    labels = np.zeros(canvas.shape, label_type(found.field.n_labels))
    if len(active) > 1:
        values = marginals[:, :-1].astype(np.float32)[found.field.graph.regions]
        canvas.border_filter.label(values, canvas.full, labels)
    if not np.array_equal(active, np.arange(len(active))):
        labels = active.astype(labels.dtype)[labels]
    if found.last and found.field.has_scores and canvas.step == 1:
        labels = kept_labels(found.candidates[int(found.chosen[k])], found.last, labels)
    known = strokes >= 0
    labels[known] = strokes[known]
    return labels
