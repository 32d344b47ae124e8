"""Groups that melt together: what the phase transitions of a mode say about its alternatives.

The variables that are certain at T = 1 and uncertain at T (eq. 15 of the paper) come in connected groups.  Turning a
whole group over and letting the field settle leads to modes that no change of a single variable would reach.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixfield.criteria.leaf import Leaf
from mixfield.energy.factor_graph import FactorGraph
from mixfield.solvers.free_energy import entropies
from mixfield.solvers.mean_field import Solver
from mixfield.solvers.tilt import Tilt

Floats = NDArray[np.float64]
Int64s = NDArray[np.int64]

BITS = 1.0 / np.log(2.0)
LOW, HIGH = 0.3, 0.7  # the paper's entropy thresholds, in bits


def melted_groups(leaf: Leaf, q: Floats, limit: int) -> list[Int64s]:
    """Groups that melt at some temperature and are certain in ``q`` (n, L), largest first."""
    certain = entropies(q) * BITS < LOW
    groups: dict[bytes, Int64s] = {}
    for hot in leaf.heated():
        melted = np.flatnonzero(certain & (entropies(hot) * BITS > HIGH))
        for group in [melted, *_connected(leaf, melted)]:
            if len(group):
                groups[group.tobytes()] = group
    return sorted(groups.values(), key=len, reverse=True)[:limit]


def turned_over(leaf: Leaf, q: Floats, groups: list[Int64s], solver: Solver) -> Floats:
    """Fields (K, n, L) in which each group has left its labels and the rest has followed."""
    labels = q.argmax(1)
    bias = np.repeat(leaf.cell.bias[None], len(groups), 0)
    for k, group in enumerate(groups):
        bias[k, group, labels[group]] = np.inf
        bias[k, np.isinf(bias[k]).all(1)] = leaf.cell.bias[np.isinf(bias[k]).all(1)]
    flipped = np.where(np.isinf(bias), 0.0, q + 1e-9)
    flipped /= flipped.sum(-1, keepdims=True)
    tilt = Tilt(bias, np.arange(len(groups), dtype=np.int32))
    return solver.ascend(leaf.energy, flipped, tilt, tolerance=1e-2, max_iterations=20).q


def _connected(leaf: Leaf, members: Int64s) -> list[Int64s]:
    """The parts of a set of variables that hang together; black boxes do not say, so theirs stay whole."""
    if not isinstance(leaf.energy, FactorGraph) or len(members) == 0:
        return []
    from scipy.sparse.csgraph import connected_components

    count, part = connected_components(leaf.energy.adjacency[members][:, members], directed=False)
    return [members[part == k] for k in range(count)] if count > 1 else []
