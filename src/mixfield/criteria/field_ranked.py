"""Where to cut for people: who was nearly seen, and who was hardly seen, ranked by trying.

Ours, not the paper's: the local field at T = 1 already says which empty place comes next.  A few of the best
empty places and all occupied ones are turned over in short runs, and cut in the order of the bounds that these reach.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield.constraints.cardinality import Cardinality
from mixfield.criteria.leaf import Leaf, Proposal
from mixfield.criteria.neighbourhood import apart
from mixfield.criteria.phase_transition import box
from mixfield.energy.base import fields
from mixfield.solvers.free_energy import bounds
from mixfield.solvers.tilt import Tilt

Floats = NDArray[np.float64]
Int64s = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FieldRanked:
    """Empty places with the highest field, and occupied ones, in the order of what turning them over costs (C = 1).

    An empty place is a cell and its neighbours: somebody there, or nobody.  An occupied one is a cell and all around it
    that is nearer to it than to any other occupied cell: somebody there, or nobody, so that the person has to move,
    to be explained by others, or to vanish.

    Attributes
    ----------
    radius : cells around an empty place that belong to it.
    reach : cells around an occupied place that belong to it.
    clear : cells that an empty place keeps from every occupied one.
    spacing : cells between two empty places.
    additions, removals : empty and occupied places that are tried.
    updates : length of a trial.
    proposals : how many are handed on, best first.
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
    within: NDArray[np.bool_] | None = None

    def propose(self, leaf: Leaf) -> Iterator[Proposal]:
        groups, occupied = self._places(leaf)
        if not groups:
            return
        score = self._try(leaf, groups, occupied)
        for k in np.argsort(-score, kind="stable")[: self.proposals]:
            yield Proposal(Cardinality(groups[k], np.array(1), 1), score=float(score[k]))

    def _places(self, leaf: Leaf) -> tuple[list[Int64s], NDArray[np.bool_]]:
        """Groups to turn over, the cell in their middle first, and which of them are occupied."""
        shape = leaf.energy.shape
        field = fields(leaf.energy, leaf.q[None])[0]
        logit, taken = field[:, 0] - field[:, 1], leaf.q[:, 1] > 0.5
        free: NDArray[np.bool_] = np.asarray(leaf.cell.allowed.all(1))
        wanted = free if self.within is None else free & self.within
        nearest, away = np.arange(len(free)), np.full(len(free), np.inf)
        if taken.any():
            from scipy.ndimage import distance_transform_edt

            distance, at = distance_transform_edt(~taken.reshape(shape), return_indices=True)
            nearest, away = np.ravel_multi_index(at, shape).ravel(), distance.ravel()
        empty = np.flatnonzero(wanted & (away > self.clear))
        added = apart(empty[np.argsort(-logit[empty], kind="stable")], self.spacing, shape, self.additions)
        held = np.flatnonzero(wanted & taken)
        removed = held[np.argsort(logit[held], kind="stable")][: self.removals]
        groups = [_group(int(c), box(int(c), self.radius, shape), free) for c in added]
        for c in removed.tolist():
            around = box(c, self.reach, shape)
            groups.append(_group(c, around[nearest[around] == c], free))
        return groups, np.arange(len(groups)) >= len(added)

    def _try(self, leaf: Leaf, groups: list[Int64s], occupied: NDArray[np.bool_]) -> Floats:
        """Bounds (k,) that short runs reach with each place turned over."""
        bias = np.repeat(leaf.cell.bias[None], len(groups), 0)
        q = np.repeat(leaf.q[None], len(groups), 0)
        for k, group in enumerate(groups):
            turned = group if occupied[k] else group[:1]
            bias[k, turned, 1 if occupied[k] else 0] = np.inf
            q[k, turned] = [1.0, 0.0] if occupied[k] else [0.0, 1.0]
        tilt = Tilt(bias, np.arange(len(groups), dtype=np.int32))
        run = leaf.solver.ascend(leaf.energy, q, tilt, tolerance=1e-3, max_iterations=self.updates)
        return bounds(leaf.energy, run.q)


def _group(centre: int, around: Int64s, free: NDArray[np.bool_]) -> Int64s:
    """The free cells around a centre, which comes first."""
    return np.concatenate([[centre], around[free[around] & (around != centre)]])
