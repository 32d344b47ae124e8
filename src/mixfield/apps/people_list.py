"""Which explanations of a frame to return: a short list, the best of which is as right as possible.

Around the mean field, places are *flipped*: a person is added where none is, or removed.  A flip is right, without
effect or wrong, with probabilities that follow from what it costs in nats, and from whether tracks lead to expect a
person there.  An explanation is a set of flips.  If flips are independent, and flip j changes the number of mistakes by
``d_j``, the best explanation of a list has, beside those of the mean field,

    E[min_S sum_{j in S} d_j],    d_j in {-1, 0, 1},

mistakes.  Explanations are chosen one after the other, always the one that lowers this most: two doubtful flips give
their four combinations, and likely ones go into all of them.  Each explanation is a mean field in a cell of its own:
all flips of the list are made or excluded in it.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.constraints.cardinality import Cardinality
from mixfield.constraints.cell import Cell
from mixfield.constraints.solution import CellSolution
from mixfield.criteria.field_ranked import CLEAR, SPACING, FieldRanked, group_around
from mixfield.criteria.leaf import Leaf
from mixfield.criteria.phase_transition import box
from mixfield.energy.occupancy import MISMATCH, Occupancy
from mixfield.errors import FewerModesWarning, InfeasibleError
from mixfield.mixture.posterior import MixturePosterior
from mixfield.mixture.tree import start_tree
from mixfield.mixture.tree_builder import TreeBuilder
from mixfield.scene.scene import Scene
from mixfield.solvers.mean_field import warn_if_doubtful
from mixfield.solvers.mode import Mode
from mixfield.solvers.options import Solver

Floats = NDArray[np.float64]
Int64s = NDArray[np.int64]

CONSIDERED = 6  # flips that are combined: 3^6 outcomes of 2^6 sets
OUTCOMES = np.array([-1.0, 0.0, 1.0])  # change of the number of mistakes
CHEAPEST, DEAREST, UNIT = -5.0, 25.0, 5.0  # nats: range of costs, and what counts as one
SHARP = 0.01  # sigma of the second table of weights; the first is for the default

# (2, 2, 5, 2): at the default sigma and at `SHARP`, of additions and of removals, the weights of `Flip.features` in the
# log-odds of "right" and of "wrong" against "without effect".  `python -m experiments.people.flip_odds` prints them.
WEIGHTS = np.array(
    [
        [
            [[3.76, 2.43], [-2.08, 2.47], [0.24, -0.84], [2.47, -2.11], [-6.3, -4.5]],
            [[0.85, 2.87], [0.72, 0.92], [0.0, 0.0], [0.0, 0.0], [-3.47, -4.12]],
        ],
        [
            [[2.54, 2.67], [0.07, 0.93], [0.0, -0.66], [0.63, -0.62], [-5.27, -4.6]],
            [[2.08, 2.59], [-0.18, 0.25], [0.78, -0.48], [0.2, -0.14], [-3.84, -3.52]],
        ],
    ]
)


@dataclass(frozen=True, eq=False)
class Flip:
    """A place where a person is added or removed.

    Attributes
    ----------
    group : cells of the place, the one in its middle first.
    occupied : whether the mean field has a person there, who is removed.
    cost : by how much the bound falls, in nats.
    moves : whether the number of people does not change as it should: others move instead.
    expected : whether tracks have a person there; None if there are no tracks.
    """

    group: Int64s
    occupied: bool
    cost: float
    moves: bool
    expected: bool | None = None

    @property
    def features(self) -> Floats:
        """(5,) one, cost, whether tracks are for it, cost if they are, and whether others move."""
        cost = float(np.clip(self.cost, CHEAPEST, DEAREST)) / UNIT
        supported = self.expected is not None and self.expected != self.occupied
        return np.array([1.0, cost, supported, supported * cost, self.moves])

    def odds(self, sharpness: float) -> Floats:
        """(3,) probabilities that it is right, without effect and wrong."""
        weights = (1.0 - sharpness) * WEIGHTS[0] + sharpness * WEIGHTS[1]
        right, wrong = np.exp(self.features @ weights[int(self.occupied)])
        return np.array([right, 1.0, wrong]) / (right + 1.0 + wrong)

    def constraint(self, made: bool) -> Cardinality:
        """At least one person at the place, or none."""
        return Cardinality(self.group, np.array(1), 1, +1 if made != self.occupied else -1)


def list_modes(
    energy: Occupancy,
    n_modes: int,
    *,
    expected: Floats | None = None,
    solver: Solver | None = None,
    rng: int | np.random.Generator = 0,
) -> MixturePosterior:
    """Explanations of a frame by the mean field and flips of it.

    Parameters
    ----------
    energy : of the frame.
    n_modes : length of the list.
    expected : (k, 2) x and y in metres where tracks have people in this frame; None if there are no tracks.
    solver, rng : as for `mixfield.infer`.
    """
    criterion = FieldRanked.for_scene(energy.scene, count_first=True)
    tree = start_tree(energy, criterion=criterion, solver=solver, rng=rng)
    flips = distinct(frame_flips(tree.nodes[0].leaf, criterion, energy.scene, expected), energy)
    chosen = best_list(np.array([odds for _, odds in flips]).reshape(-1, 3), n_modes)
    used = sorted({j for one in chosen for j in one})
    found = [_mode(tree, [flips[j][0].constraint(j in one) for j in used]) for one in chosen]
    modes = sorted((mode for mode in found if mode is not None), key=lambda mode: -mode.log_z)
    root = tree.nodes[0]
    modes = modes or [_as_mode(tree, root.leaf.cell, root.solution)]
    warn_if_doubtful(modes)
    if len(modes) == n_modes:
        return MixturePosterior(tuple(modes), t_max=tree.t_max)
    note = f"too few flips keep people in their cells: {len(modes)} modes instead of {n_modes}"
    warnings.warn(note, FewerModesWarning, stacklevel=3)
    return MixturePosterior(tuple(modes), t_max=tree.t_max, notes=(note,))


def frame_flips(leaf: Leaf, criterion: FieldRanked, scene: Scene, expected: Floats | None) -> list[Flip]:
    """The flips of a mean field: places of the criterion, and those where tracks have people that it has not."""
    groups, occupied = criterion.places(leaf)
    centres, known = scene.ground.centres().reshape(-1, 2), np.array([], bool)
    if expected is not None:
        groups, occupied = _with_expected(groups, occupied, leaf, criterion, scene, expected)
        middles = centres[[group[0] for group in groups]].reshape(-1, 2)
        known = _nearest(middles, expected) < CLEAR
    if not groups:
        return []
    q = criterion.try_flips(leaf, groups, occupied)
    costs, change = leaf.log_z - leaf.solver.bounds(q), criterion.count(q) - criterion.count(leaf.q)
    moves = np.where(occupied, change >= 0, change <= 0)
    return [
        Flip(group, bool(occupied[k]), float(costs[k]), bool(moves[k]), bool(known[k]) if len(known) else None)
        for k, group in enumerate(groups)
    ]


def _with_expected(
    groups: list[Int64s],
    occupied: NDArray[np.bool_],
    leaf: Leaf,
    criterion: FieldRanked,
    scene: Scene,
    expected: Floats,
) -> tuple[list[Int64s], NDArray[np.bool_]]:
    """The places; empty ones near a person who is expected and not found are replaced by that one."""
    centres, found = scene.ground.centres().reshape(-1, 2), leaf.q[:, 1] > 0.5
    within = found | True if criterion.within is None else criterion.within
    cells = [int(np.linalg.norm(centres - point, axis=-1).argmin()) for point in expected]
    missing = [c for c in dict.fromkeys(cells) if within[c] and _nearest(centres[[c]], centres[found])[0] > CLEAR]
    middles = centres[[group[0] for group in groups]].reshape(-1, 2)
    kept = occupied | (_nearest(middles, centres[missing]) > SPACING)
    added = [group_around(c, box(c, criterion.radius, leaf.energy.shape), within) for c in missing]
    return [group for group, keep in zip(groups, kept, strict=True) if keep] + added, np.concatenate(
        [occupied[kept], np.zeros(len(added), bool)]
    )


def distinct(flips: Sequence[Flip], energy: Occupancy) -> list[tuple[Flip, Floats]]:
    """The flips that are most likely right, apart from each other, each with its `Flip.odds`."""
    centres, sharpness = energy.scene.ground.centres().reshape(-1, 2), _sharpness(energy)
    ranked = sorted(((flip, flip.odds(sharpness)) for flip in flips), key=lambda one: -one[1][0])
    chosen: list[tuple[Flip, Floats]] = []
    for flip, odds in ranked:
        taken = centres[[int(one.group[0]) for one, _ in chosen]].reshape(-1, 2)
        if _nearest(centres[[flip.group[0]]], taken)[0] > 2 * SPACING:
            chosen.append((flip, odds))
    return chosen[:CONSIDERED]


def best_list(odds: Floats, count: int) -> list[tuple[int, ...]]:
    """Up to ``count`` sets of flips, from the probabilities (m, 3) that each is right, without effect and wrong."""
    m = len(odds)
    outcomes = np.array(list(itertools.product(range(3), repeat=m)), np.int64).reshape(3**m, m)
    weights = odds[np.arange(m), outcomes].prod(1)
    sets = [one for size in range(m + 1) for one in itertools.combinations(range(m), size)]
    changes = np.stack([OUTCOMES[outcomes[:, list(one)]].sum(1) for one in sets])
    chosen: list[int] = []
    best = np.full(len(weights), np.inf)
    for _ in range(min(count, len(sets))):
        expected = np.minimum(best, changes) @ weights
        expected[chosen] = np.inf
        chosen.append(int(expected.argmin()))
        best = np.minimum(best, changes[chosen[-1]])
    return [sets[k] for k in chosen]


def _mode(tree: TreeBuilder, constraints: Sequence[Cardinality]) -> Mode | None:
    """The mean field in the cell of some constraints, None if none lives there."""
    root = tree.nodes[0]
    cell, solution = root.leaf.cell, root.solution
    try:
        for constraint in constraints:
            cell = cell.cut(constraint)
    except InfeasibleError:
        return None
    inside = tree.finder.solve_in_cell(cell, solution) if constraints else solution
    return None if inside is None else _as_mode(tree, cell, inside)


def _as_mode(tree: TreeBuilder, cell: Cell, solution: CellSolution) -> Mode:
    q, energy = solution.q[0], tree.solver.energy
    return Mode(
        marginals=_arrays.frozen(q.reshape(*energy.shape, energy.n_labels).copy()),
        log_z=float(solution.log_z[0]),
        constraints=cell.constraints,
        mass_inside=cell.mass(q),
        converged=bool(solution.converged[0]),
        iterations=int(solution.iterations[0]),
    )


def _sharpness(energy: Occupancy) -> float:
    """0 at the default sigma of the local form, 1 at `SHARP`; 0 in other forms."""
    if energy.scene.form != "local":
        return 0.0
    sigma = float(np.mean(energy.variance))
    return float(np.clip(np.log(MISMATCH / sigma) / np.log(MISMATCH / SHARP), 0.0, 1.0))


def _nearest(points: Floats, others: Floats) -> Floats:
    """(k,) metres from each point (k, 2) to the nearest of the others (m, 2); infinite if there are none."""
    return np.linalg.norm(points[:, None] - others, axis=-1).min(1, initial=np.inf)
