"""Groups with a common phase transition, flipped together to find other modes.

The variables that are certain at T = 1 and uncertain at T (eq. 15 of the paper) come in connected groups.  Flipping a
whole group and solving again leads to modes that no change of a single variable would reach.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixfield.criteria.leaf import Leaf
from mixfield.criteria.phase_transition import BITS, HIGH, LOW
from mixfield.energy.base import ability
from mixfield.solvers.free_energy import entropies
from mixfield.solvers.tilt import Tilt

Floats = NDArray[np.float64]
Int64s = NDArray[np.int64]


def transition_groups(leaf: Leaf, q: Floats, limit: int) -> list[Int64s]:
    """Groups that are uncertain at some temperature and certain in ``q`` (n, L), largest first."""
    certain = entropies(q) * BITS < LOW
    groups: dict[bytes, Int64s] = {}
    for marginals in leaf.annealed_path:
        uncertain = np.flatnonzero(certain & (entropies(marginals) * BITS > HIGH))
        for group in [uncertain, *_connected(leaf, uncertain)]:
            if len(group):
                groups[group.tobytes()] = group
    return sorted(groups.values(), key=len, reverse=True)[:limit]


def flipped(leaf: Leaf, q: Floats, groups: list[Int64s]) -> Floats:
    """(K, n, L) mean fields in which the labels that a group has in ``q`` are forbidden to it."""
    labels = q.argmax(1)
    bias = np.repeat(leaf.cell.bias[None], len(groups), 0)
    for k, group in enumerate(groups):
        bias[k, group, labels[group]] = np.inf
        bias[k, np.isinf(bias[k]).all(1)] = leaf.cell.bias[np.isinf(bias[k]).all(1)]
    start = np.where(np.isinf(bias), 0.0, q + 1e-9)
    start /= start.sum(-1, keepdims=True)
    tilt = Tilt(bias, np.arange(len(groups), dtype=np.int32))
    return leaf.solver.solve(start, tilt, tolerance=1e-2, max_iterations=20).q


def _connected(leaf: Leaf, members: Int64s) -> list[Int64s]:
    """The connected parts of a set of variables, where the energy knows its neighbours."""
    adjacency = ability(leaf.energy, "adjacency")
    if adjacency is None or len(members) == 0:
        return []
    from scipy.sparse.csgraph import connected_components

    count, part = connected_components(adjacency[members][:, members], directed=False)
    grouped = members[np.argsort(part, kind="stable")]
    return np.split(grouped, np.cumsum(np.bincount(part))[:-1]) if count > 1 else []
