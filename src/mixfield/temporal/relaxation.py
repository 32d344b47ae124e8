"""A lower bound of KSP* on all cells: the mode choice and the flow, each for itself, held together by prices.

For any multipliers w >= 0 of the constraints z <= y,

    sum_t min_k (C_k - sum_i w_{k,i})  +  KSP with node costs min_k (C_{k,i} + w_{k,i})

is at most the optimum: one flow on the whole grid, whatever cells the multipliers came from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.temporal.costs import ModeCosts
from mixfield.temporal.flow import disjoint_paths
from mixfield.temporal.timegrid import TimeGrid

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class LowerBound:
    """A lower bound, and what it knows.

    Attributes
    ----------
    value : no answer with the allowed modes costs less.
    regret : (T, K) no answer that chooses this mode costs less than ``value`` plus this.
    used : (T, n) cells that the relaxed paths pass.
    price : (T, n) dual price of arriving at each cell, +inf where no path arrives.
    """

    value: float
    regret: Floats
    used: Bools
    price: Floats


@dataclass(frozen=True, eq=False)
class Piece:
    """Multipliers that prove a bound for the choices among some modes.

    Attributes
    ----------
    allowed : (T, K) the modes.
    sparse : (T K, n) multipliers, most of which are zero.
    """

    allowed: Bools
    sparse: Any

    def part(self, frames: slice) -> tuple[Bools, Floats]:
        """Modes and multipliers (T, K, n) of some frames."""
        T, K = self.allowed.shape
        return self.allowed[frames], self.sparse.toarray().reshape(T, K, -1)[frames]

    def after(self, frames: int) -> Piece:
        """The piece without its first frames."""
        return Piece(self.allowed[frames:], self.sparse[frames * self.allowed.shape[1] :])


def lower_bound(costs: ModeCosts, grid: TimeGrid, multipliers: Floats, allowed: Bools) -> LowerBound:
    """The bound for multipliers (T, K, n) and allowed modes (T, K); ``grid`` holds all cells of all frames."""
    T, _, n = costs.cell.shape
    mode = np.where(allowed, costs.mode - multipliers.sum(2), np.inf)
    cell = np.where(allowed[:, :, None], costs.cell + multipliers, np.inf).min(1)
    flow = disjoint_paths(grid.graph, np.ascontiguousarray(cell).ravel())
    least = mode.min(1)
    return LowerBound(
        float(least.sum()) + flow.cost,
        mode - least[:, None],
        flow.used.reshape(T, n),
        flow.potential[:, 0].reshape(T, n),
    )
