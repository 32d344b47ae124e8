"""Detect people on the ground plane: several weighted explanations of the same silhouettes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield._progress import Progress
from mixfield.apps.people_list import list_modes
from mixfield.criteria.base import Criterion
from mixfield.criteria.field_ranked import PLACE, FieldRanked, place_radius
from mixfield.criteria.neighbourhood import NeighbourhoodEntropy
from mixfield.criteria.phase_transition import EntropyGap, PhaseTransition
from mixfield.energy.occupancy import Occupancy
from mixfield.errors import MixfieldError
from mixfield.mixture.posterior import MixturePosterior
from mixfield.mixture.tree import infer
from mixfield.scene.scene import Scene
from mixfield.solvers.mode import Mode
from mixfield.solvers.options import Solver

Floats = NDArray[np.float64]

CRITERIA = ("field", "count", "neighbourhood", "paper")
UNLIKELY = 0.05  # probability up to which cells do not count for positions


def detect(
    scene: Scene,
    masks: Sequence[ArrayLike],
    n_modes: int = 4,
    *,
    criterion: str | Criterion = "field",
    expected: ArrayLike | None = None,
    solver: Solver | None = None,
    rng: int | np.random.Generator = 0,
    progress: Progress = None,
    **options: float | str,
) -> MixturePosterior:
    """Several weighted explanations of foreground masks by people on the ground.

    Parameters
    ----------
    scene : ground and cameras, see `Scene.from_cameras`, `mixfield.read_scene` and `mixfield.read_pom`.
    masks : one foreground mask (height, width) per view, taken at the same time, see `Occupancy`.
    n_modes : number of explanations.
    criterion : where to cut.  ``"field"`` (default): people that are nearly detected and people that are nearly not;
        ``"count"``: the sets of such people of which the best is expected to have fewest mistakes, see
        `mixfield.apps.people_list`, so that modes differ in several places: for crowds in which people hide each other;
        ``"neighbourhood"``: the paper's rule with the entropy of neighbourhoods; ``"paper"``: the paper's rule, the
        cell with the largest entropy gap and its neighbours; or an object with ``propose``.
    expected : (k, 2) x and y in metres where people are expected, for ``"count"``: those of tracks through the mean
        fields of a sequence, in this frame.  People whom this frame does not show are proposed there.
    solver : tolerance, iteration limit and threads; by default those of `Occupancy`.
    rng : seed or generator.
    progress : as for `infer`.
    options : ``form``, ``variance``, ``noise``, ``ignored`` and ``damping`` of `Occupancy`.

    Returns
    -------
    MixturePosterior
        Over the ground (rows, columns), label 1 for "occupied".

    Notes
    -----
    In a sequence ``fields = [detect(scene, masks, 1) for masks in frames]`` have the tracks
    ``tracks = track(fields, scene, prior=scene.prior)``; people are expected at ``tracks.positions()[t]`` in frame t.
    """
    energy = Occupancy(scene, masks, **options)  # type: ignore[arg-type]
    if expected is not None and criterion != "count":
        raise MixfieldError(f"expected needs criterion='count', got {criterion!r}")
    if criterion == "count" and n_modes > 1:
        return list_modes(energy, n_modes, expected=_points(expected), solver=solver, rng=rng)
    return infer(
        energy,
        n_modes,
        rng=rng,
        criterion=_criterion(criterion, scene),
        solver=solver,
        progress=progress,
    )


def positions(
    mode: Mode | MixturePosterior, scene: Scene, *, threshold: float = 0.5, one_per_person: bool = False
) -> Floats:
    """(k, 2) x and y in metres of the people of a mode inside the area of interest.

    Parameters
    ----------
    mode : a mode, or a posterior (then its mixed marginals).
    scene : the scene it belongs to.
    threshold : a cell is occupied if its probability is above this.
    one_per_person : non-maximum suppression.  Probabilities are summed over neighbourhoods, and each with a sum above
        ``threshold`` gives one position, its mean.  Without it, each cell above the threshold is a detection, as in
        the paper's protocol.
    """
    marginals = mode.marginals() if isinstance(mode, MixturePosterior) else mode.marginals
    _arrays.check_shape("mode", marginals[..., 0], scene.ground.shape, "= shape of the ground of the scene")
    probability = np.where(scene.interest, marginals[..., 1], 0.0)
    centres = scene.ground.centres()
    if not one_per_person:
        return centres[probability > threshold]
    return _merged(probability.ravel(), centres.reshape(-1, 2), threshold)


def _points(expected: ArrayLike | None) -> Floats | None:
    """Points (k, 2) in metres."""
    if expected is None:
        return None
    points = _arrays.floats("expected", expected)
    if points.size and (points.ndim != 2 or points.shape[1] != 2):
        raise MixfieldError(f"expected must have shape (k, 2), x and y of each person, got {points.shape}")
    return points.reshape(-1, 2)


def _merged(probability: Floats, centres: Floats, threshold: float) -> Floats:
    """Greedy non-maximum suppression on the expected number of people around each cell."""
    likely = np.flatnonzero(probability > UNLIKELY)
    ranked = likely[np.argsort(-probability[likely], kind="stable")]
    remaining = probability.copy()
    found = []
    for cell in ranked:
        near = np.linalg.norm(centres[likely] - centres[cell], axis=-1) <= PLACE
        members = likely[near]
        mass = remaining[members]
        if remaining[cell] > 0 and mass.sum() > threshold:
            found.append(mass @ centres[members] / mass.sum())
            remaining[members] = 0.0
    return np.array(found).reshape(-1, 2)


def _criterion(choice: str | Criterion, scene: Scene) -> Criterion:
    """A criterion by name, its lengths in cells of the scene."""
    if not isinstance(choice, str):
        return choice
    if choice not in CRITERIA:
        raise MixfieldError(f"criterion must be one of {', '.join(CRITERIA)} or an object with propose, got {choice!r}")
    if choice in ("field", "count"):
        return FieldRanked.for_scene(scene, count_first=choice == "count")
    radius = place_radius(scene)
    if choice == "neighbourhood":
        return NeighbourhoodEntropy(radius=radius)
    return PhaseTransition(pick=EntropyGap(radius=radius))
