"""Lagrangian relaxation of KSP*: a lower bound, and reduced costs of modes and cells.

The constraints z_{k,i} <= y_k of the integer program (program.py) get multipliers w_{k,i} >= 0.  For any w,

    L(w) = sum_t min_k (C_k - sum_i w_{k,i})  +  the min-cost flow with node costs min_k (C_{k,i} + w_{k,i})

is at most the optimum.  The flow runs through all cells, so the bound holds on all of them, even if the multipliers
come from a program on few cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield.temporal.costs import ModeCosts
from mixfield.temporal.flow import disjoint_paths
from mixfield.temporal.graph import Flow
from mixfield.temporal.timegrid import Motion, TimeGrid

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class LowerBound:
    """The value of the relaxation, and its solution.

    Attributes
    ----------
    value : L(w); no answer with the allowed modes costs less.
    mode_reduced_cost : (T, K) no answer with this mode costs less than ``value`` plus this.
    cell_cost : (T, n) node costs of the flow.
    flow : the min-cost flow.
    """

    value: float
    mode_reduced_cost: Floats
    cell_cost: Floats
    flow: Flow

    @property
    def used(self) -> Bools:
        """(T, n) cells on the paths of the flow."""
        return self.flow.used.reshape(self.cell_cost.shape)

    @property
    def arrival_potential(self) -> Floats:
        """(T, n) dual price of arriving at each cell, +inf where no path arrives."""
        return self.flow.potential[:, 0].reshape(self.cell_cost.shape)


def lower_bound(costs: ModeCosts, grid: TimeGrid, multipliers: Floats, allowed: Bools) -> LowerBound:
    """L(w) for multipliers w (T, K, n) and allowed modes (T, K); ``grid`` holds all cells of all frames."""
    mode = np.where(allowed, costs.mode - multipliers.sum(2), np.inf)
    cell = np.where(allowed[:, :, None], costs.cell + multipliers, np.inf).min(1)
    flow = disjoint_paths(grid.graph, np.ascontiguousarray(cell).ravel())
    least = mode.min(1)
    return LowerBound(float(least.sum()) + flow.cost, mode - least[:, None], cell, flow)


def bound_of_modes(costs: ModeCosts, modes: Ints, flow: Flow) -> LowerBound:
    """`lower_bound` without multipliers, if only ``modes`` (T,) are allowed, from their min-cost flow."""
    reduced = np.where(np.arange(costs.mode.shape[1]) == modes[:, None], 0.0, np.inf)
    return LowerBound(costs.price(modes) + flow.cost, reduced, costs.chosen(modes), flow)


def cell_reduced_costs(bound: LowerBound, grid: TimeGrid, motion: Motion) -> Floats:
    """(T, n) no answer that passes a cell costs less than ``bound.value`` plus this.

    The potentials of the flow give entries, exits, nodes and arcs reduced costs, of which those that are negative are
    saturated.  Any other flow costs at least ``flow.cost`` plus the positive ones on its paths.  The least sum over the
    paths through a cell is a shortest path from the source to the cell and one from there to the sink.
    """
    T, n = bound.cell_cost.shape
    potential = bound.flow.potential.reshape(T, n, 2)
    reachable = np.asarray(np.isfinite(potential).all(2))
    arrive, leave = np.moveaxis(np.where(reachable[..., None], potential, 0.0), 2, 0)
    node = np.where(reachable, np.maximum(bound.cell_cost + arrive - leave, 0.0), np.inf)
    before = np.maximum(grid.graph.entry.reshape(T, n) - arrive, 0.0)
    after = np.maximum(grid.graph.exit.reshape(T, n) + leave, 0.0)
    for t in range(1, T):
        step = _cheapest_step(before[t - 1] + node[t - 1], leave[t - 1], -arrive[t], motion)
        before[t] = np.minimum(before[t], step)
    for t in range(T - 2, -1, -1):
        step = _cheapest_step(after[t + 1] + node[t + 1], -arrive[t + 1], leave[t], motion)
        after[t] = np.minimum(after[t], step)
    return np.asarray(before + node + after)


def _cheapest_step(distance: Floats, there: Floats, here: Floats, motion: Motion) -> Floats:
    """(n,) least ``distance[j] + max(step cost + there[j] + here[i], 0)`` over the neighbours j of each cell i."""
    arc = np.maximum(np.append(there, 0.0)[motion.neighbours] + here[:, None] + motion.step_cost, 0.0)
    return np.asarray((np.append(distance, np.inf)[motion.neighbours] + arc).min(1))
