"""Where to cut for people: who was nearly seen, and who was hardly seen, ranked by trying.

Ours, not the paper's: the local field at T = 1 already says which empty place comes next.  A few of the best
empty places and all occupied ones are turned over in short runs, and cut in the order of the bounds that these reach.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

from mixfield.clamping.constraint import Cardinality
from mixfield.clamping.leaf import Leaf, Proposal
from mixfield.clamping.neighbourhood import apart
from mixfield.clamping.selection import box
from mixfield.energy.energy import fields
from mixfield.meanfield.free_energy import bounds
from mixfield.meanfield.tilt import Tilt

Floats = NDArray[np.float64]
Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class FieldRanked:
    """Empty places with the highest field, and occupied ones, in the order of what turning them over costs (C = 1).

    Attributes
    ----------
    radius : cells around a place that belong to it.
    clear : cells that an empty place keeps from every occupied one.
    spacing : cells between two places.
    additions : empty places that are tried.
    removals : occupied places that are tried.
    updates : length of a trial.
    proposals : how many are handed on, best first.
    """

    radius: int = 1
    clear: float = 2.0
    spacing: float = 3.0
    additions: int = 8
    removals: int = 16
    updates: int = 20
    proposals: int = 8

    def propose(self, leaf: Leaf) -> Iterator[Proposal]:
        centres, occupied = self._places(leaf)
        if len(centres) == 0:
            return
        score = self._try(leaf, centres, occupied)
        free = leaf.cell.allowed.all(1)
        for k in np.argsort(-score, kind="stable")[: self.proposals]:
            around = box(int(centres[k]), self.radius, leaf.energy.shape)
            yield Proposal(Cardinality(around[free[around]], np.array(1), 1), score=float(score[k]))

    def _places(self, leaf: Leaf) -> tuple[Int64s, NDArray[np.bool_]]:
        """Centres of the places to turn over, and which of them are occupied."""
        shape = leaf.energy.shape
        field = fields(leaf.energy, leaf.q[None])[0]
        logit, occupied = field[:, 0] - field[:, 1], leaf.q[:, 1] > 0.5
        free = leaf.cell.allowed.all(1)
        far = np.ones(len(free), bool)
        if occupied.any():
            far = distance_transform_edt(~occupied.reshape(shape)).ravel() > self.clear
        empty = np.flatnonzero(free & far & ~occupied)
        taken = np.flatnonzero(free & occupied)
        added = apart(empty[np.argsort(-logit[empty], kind="stable")], self.spacing, shape, self.additions)
        removed = apart(taken[np.argsort(-leaf.q[taken, 1], kind="stable")], self.spacing, shape, self.removals)
        return np.concatenate([added, removed]), np.arange(len(added) + len(removed)) >= len(added)

    def _try(self, leaf: Leaf, centres: Int64s, occupied: NDArray[np.bool_]) -> Floats:
        """Bounds (k,) that short runs reach with each place turned over."""
        bias = np.repeat(leaf.cell.bias[None], len(centres), 0)
        q = np.repeat(leaf.q[None], len(centres), 0)
        for k, centre in enumerate(centres):
            if occupied[k]:
                around = box(int(centre), self.radius, leaf.energy.shape)
                bias[k, around, 1] = np.inf
                q[k, around] = [1.0, 0.0]
            else:
                bias[k, centre, 0] = np.inf
                q[k, centre] = [0.0, 1.0]
        tilt = Tilt(bias, np.arange(len(centres), dtype=np.int32))
        run = leaf.solver.ascend(leaf.energy, q, tilt, tolerance=1e-3, max_iterations=self.updates)
        return bounds(leaf.energy, run.q)
