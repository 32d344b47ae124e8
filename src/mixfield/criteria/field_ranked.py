"""Where to cut for people: places that are nearly occupied or hardly occupied, ranked by short trial runs.

Ours, not the paper's: the local field at T = 1 already ranks the empty places.  A few of the best of them and all
occupied places are flipped in short runs, and cut in the order of the bounds that these reach.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mixfield.constraints.cardinality import Cardinality
from mixfield.criteria.leaf import Leaf, Proposal
from mixfield.criteria.neighbourhood import apart
from mixfield.criteria.phase_transition import box
from mixfield.energy.base import local_fields
from mixfield.scene.scene import Scene
from mixfield.solvers.tilt import Tilt

Floats = NDArray[np.float64]
Int64s = NDArray[np.int64]

PLACE = 0.35  # metres around a point that belong to the same place
CLEAR = 0.5  # metres that a possible other person keeps from those already found
SPACING = 0.75  # metres between two people
COUNT_UPDATES = 40  # of a trial after which people are counted


def place_radius(scene: Scene) -> int:
    """Cells around a cell that belong to the same place; none on a ground of a single row or column."""
    return max(1, round(PLACE / scene.ground.cell)) if min(scene.ground.shape) > 1 else 0


@dataclass(frozen=True, eq=False)
class FieldRanked:
    """Empty places with the highest field, and occupied ones, in the order of the bounds after flipping them (C = 1).

    An empty place is a cell and its neighbours.  An occupied one is a cell and all cells around it that are nearer to
    it than to any other occupied cell.  One side of the cut has a person there, the other has none, so that the person
    moves, is explained by others, or vanishes.

    Attributes
    ----------
    radius : cells around an empty place that belong to it.
    reach : cells around an occupied place that belong to it.
    clear : cells that an empty place keeps from every occupied one.
    spacing : cells between two empty places.
    additions, removals : empty and occupied places that are tried.
    updates : length of a trial.
    proposals : how many are proposed, best first.
    count_first : whether flips after which another number of people are ``within`` come before all others, most of
        which move a person by less than a metre.  Then places keep twice ``spacing`` from those of earlier cuts, where
        the same person would be cut again, so that modes differ in several people.
    within : (n,) cells in which places are looked for; None for all.
    """

    radius: int = 1
    reach: int = 3
    clear: float = 2.0
    spacing: float = 3.0
    additions: int = 6
    removals: int = 16
    updates: int = 10
    proposals: int = 8
    count_first: bool = False
    within: NDArray[np.bool_] | None = None

    @classmethod
    def for_scene(cls, scene: Scene, *, count_first: bool = False) -> FieldRanked:
        """The criterion with lengths in cells of the ground of a scene."""
        cell, radius = scene.ground.cell, place_radius(scene)
        visible = np.any([view.visible for view in scene.views], axis=0)
        return cls(
            radius=radius,
            reach=round(SPACING / cell) if radius else 0,
            clear=CLEAR / cell,
            spacing=SPACING / cell,
            count_first=count_first,
            updates=COUNT_UPDATES if count_first else cls.updates,
            within=visible & scene.interest.ravel(),
        )

    def propose(self, leaf: Leaf) -> Iterator[Proposal]:
        """Places by the bounds of their trials; a leaf first gets those of its parent that its cuts leave alone.

        A flip elsewhere changes the bound of a leaf by what it changed that of the parent, for silhouettes are local.
        """
        if leaf.parent is not None:
            away = _away(leaf, 2 * self.spacing if self.count_first else self.spacing)
            others = [one for one in leaf.inherited if away[one.constraint.group].all()]
            gain = leaf.log_z - leaf.parent.log_z
            yield from (replace(one, score=one.score + gain) for one in others)
            if others:
                return
        yield from self._tried(leaf)

    def _tried(self, leaf: Leaf) -> Iterator[Proposal]:
        """Places by the bounds that short runs with each of them flipped reach."""
        groups, occupied = self.places(leaf)
        if not groups:
            return
        flipped = self.try_flips(leaf, groups, occupied)
        score = leaf.solver.bounds(flipped)
        same = (self.count(flipped) == self.count(leaf.q)) & self.count_first
        for k in np.lexsort((-score, same))[: self.proposals]:
            yield Proposal(Cardinality(groups[k], np.array(1), 1), score=float(score[k]))

    def places(self, leaf: Leaf) -> tuple[list[Int64s], NDArray[np.bool_]]:
        """Groups to flip, the cell in their middle first, and which of them are occupied."""
        shape = leaf.energy.shape
        field = local_fields(leaf.energy, leaf.q[None])[0]
        logit, taken = field[:, 0] - field[:, 1], leaf.q[:, 1] > 0.5
        free: NDArray[np.bool_] = np.asarray(leaf.cell.allowed.all(1))
        wanted = free if self.within is None else free & self.within
        members = free
        if self.count_first:  # a person beyond ``within`` is not counted, one beside an earlier cut would be cut again
            wanted = members = wanted & _away(leaf, 2 * self.spacing)
        nearest, away = np.arange(len(free)), np.full(len(free), np.inf)
        if taken.any():
            from scipy.ndimage import distance_transform_edt

            distance, at = distance_transform_edt(~taken.reshape(shape), return_indices=True)
            nearest, away = np.ravel_multi_index(at, shape).ravel(), distance.ravel()
        empty = np.flatnonzero(wanted & (away > self.clear))
        added = apart(empty[np.argsort(-logit[empty], kind="stable")], self.spacing, shape, self.additions)
        held = np.flatnonzero(wanted & taken)
        removed = held[np.argsort(logit[held], kind="stable")][: self.removals]
        groups = [group_around(int(c), box(int(c), self.radius, shape), members) for c in added]
        for c in removed.tolist():
            around = box(c, self.reach, shape)
            groups.append(group_around(c, around[nearest[around] == c], free))
        return groups, np.arange(len(groups)) >= len(added)

    def try_flips(self, leaf: Leaf, groups: list[Int64s], occupied: NDArray[np.bool_]) -> Floats:
        """Marginals (k, n, 2) that short runs reach with each place flipped."""
        bias = np.repeat(leaf.cell.bias[None], len(groups), 0)
        q = np.repeat(leaf.q[None], len(groups), 0)
        for k, group in enumerate(groups):
            flipped = group if occupied[k] else group[:1]
            bias[k, flipped, 1 if occupied[k] else 0] = np.inf
            q[k, flipped] = [1.0, 0.0] if occupied[k] else [0.0, 1.0]
        tilt = Tilt(bias, np.arange(len(groups), dtype=np.int32))
        return leaf.solver.solve(q, tilt, tolerance=1e-3, max_iterations=self.updates).q

    def count(self, q: Floats) -> Int64s:
        """(...) number of occupied cells ``within`` of marginals (..., n, 2)."""
        occupied = q[..., 1] > 0.5
        return np.asarray((occupied if self.within is None else occupied & self.within).sum(-1))


def _away(leaf: Leaf, distance: float) -> NDArray[np.bool_]:
    """(n,) cells farther than ``distance`` from all groups that were cut to make a leaf."""
    from scipy.ndimage import distance_transform_edt

    uncut = np.ones(len(leaf.q), bool)
    for constraint in leaf.cell.constraints:
        uncut[constraint.group] = False
    return uncut if uncut.all() else distance_transform_edt(uncut.reshape(leaf.energy.shape)).ravel() > distance


def group_around(centre: int, around: Int64s, free: NDArray[np.bool_]) -> Int64s:
    """The free cells around a centre, which comes first."""
    return np.concatenate([[centre], around[free[around] & (around != centre)]])
