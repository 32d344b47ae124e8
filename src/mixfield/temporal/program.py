"""KSP* as an integer programme (the paper's appendix), in its smaller form.

The printed programme has a flow x_{k,i,l,j} from mode k at cell i to mode l at cell j.  Here the flow f_{ij} knows no
modes, and z_{k,i} says by which mode a cell is passed:

    min   sum_t sum_k C_k y_k + sum_t sum_k sum_i C_{k,i} z_{k,i}
    s.t.  inflow(i) = outflow(i) = sum_k z_{k,i},    0 <= z_{k,i} <= y_k,    sum_k y_k = 1,    y binary

Given (f, z), x = f_ij (z_{k,i} / Z_i) (z_{l,j} / Z_j) with Z_i = sum_k z_{k,i} satisfies the printed constraints at the
same cost, and sums of x over modes give (f, z) back: the same bound and the same optimum from K^2 times fewer flow
variables.  Source and sink, which the appendix leaves out, are those of KSP.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.temporal.costs import ModeCosts
from mixfield.temporal.timegrid import TimeGrid

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Relaxed:
    """An optimum of the linear relaxation.

    Attributes
    ----------
    cost : its value, a lower bound of KSP* on the cells that take part.
    modes : (T, K) fractions y.
    multipliers : (T, K, n) what it would be worth to relax z <= y, zero at cells that take no part.
    """

    cost: float
    modes: Floats
    multipliers: Floats


@dataclass(frozen=True, eq=False)
class Program:
    """The programme on the cells of a time grid and the allowed modes.

    Variables are, in this order: entries, exits, arcs (a flow), z (node, mode), y (frame, mode).
    """

    costs: ModeCosts
    grid: TimeGrid
    objective: Floats
    equalities: Any
    right: Floats
    coupling: Any
    node: Ints
    mode: Ints
    frames: Ints
    choices: Ints

    @staticmethod
    def build(costs: ModeCosts, grid: TimeGrid, allowed: Bools) -> Program:
        """The programme with the modes ``allowed`` (T, K)."""
        graph, N = grid.graph, grid.graph.n
        T = len(allowed)
        begins, ends = np.flatnonzero(np.isfinite(graph.entry)), np.flatnonzero(np.isfinite(graph.exit))
        head = np.repeat(np.arange(N), np.diff(graph.start))
        frames, choices = np.nonzero(allowed)
        node, mode = np.nonzero(allowed[grid.frame] & np.isfinite(costs.cell[grid.frame, :, grid.cell]))
        counts = [len(begins), len(ends), len(head), len(node), len(frames)]
        entry, exit_, arc, z, y = (np.arange(c) + sum(counts[:i]) for i, c in enumerate(counts))
        total = sum(counts)

        inflow = (np.concatenate([begins, head, node]), np.concatenate([entry, arc, z]))
        outflow = (np.concatenate([ends, graph.tail, node]), np.concatenate([exit_, arc, z]))
        ones = [np.ones(len(rows) - len(node)) for rows, _ in (inflow, outflow)]
        minus = -np.ones(len(node))
        rows = np.concatenate([inflow[0], N + outflow[0], 2 * N + frames])
        columns = np.concatenate([inflow[1], outflow[1], y])
        values = np.concatenate([ones[0], minus, ones[1], minus, np.ones(len(frames))])
        equalities = _sparse(values, rows, columns, (2 * N + T, total))

        number = np.full(allowed.shape, -1, np.int64)
        number[frames, choices] = y
        pair = np.arange(len(node))
        coupling = _sparse(
            np.concatenate([np.ones(len(node)), minus]),
            np.concatenate([pair, pair]),
            np.concatenate([z, number[grid.frame[node], mode]]),
            (len(node), total),
        )
        objective = np.concatenate(
            [
                graph.entry[begins],
                graph.exit[ends],
                graph.arc_cost,
                costs.cell[grid.frame[node], mode, grid.cell[node]],
                costs.mode[frames, choices],
            ]
        )
        right = np.concatenate([np.zeros(2 * N), np.ones(T)])
        return Program(costs, grid, objective, equalities, right, coupling, node, mode, frames, choices)

    def _modes(self, x: Floats) -> Floats:
        y = np.zeros(self.costs.mode.shape)
        y[self.frames, self.choices] = x[len(x) - len(self.frames) :]
        return y

    def relax(self, seconds: float) -> Relaxed | None:
        """The linear relaxation, or None if time runs out."""
        from scipy.optimize import linprog

        answer = linprog(
            self.objective,
            A_ub=self.coupling,
            b_ub=np.zeros(len(self.node)),
            A_eq=self.equalities,
            b_eq=self.right,
            bounds=(0, 1),
            method="highs",
            options={"time_limit": max(seconds, 0.01)},
        )
        if answer.status != 0 or answer.x is None or answer.fun is None:
            return None
        multipliers = np.zeros(self.costs.cell.shape)
        worth = np.maximum(-answer.ineqlin.marginals, 0.0)
        multipliers[self.grid.frame[self.node], self.mode, self.grid.cell[self.node]] = worth
        return Relaxed(float(answer.fun), self._modes(answer.x), multipliers)

    def solve(self, seconds: float) -> Ints | None:
        """(T,) modes of the best answer found in time, or None if there is none."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        integral = np.zeros(len(self.objective), np.int64)
        integral[len(integral) - len(self.frames) :] = 1
        answer = milp(
            self.objective,
            integrality=integral,
            bounds=Bounds(0, 1),
            constraints=[
                LinearConstraint(self.equalities, self.right, self.right),
                LinearConstraint(self.coupling, -np.inf, 0.0),
            ],
            options={"time_limit": max(seconds, 0.01), "mip_rel_gap": 1e-9},
        )
        return None if answer.x is None else self._modes(answer.x).argmax(1)


def _sparse(values: Floats, rows: Ints, columns: Ints, shape: tuple[int, int]) -> Any:
    """A matrix with 32-bit indices: SciPy 1.13 solves no others."""
    from scipy.sparse import csr_array

    return csr_array((values, (rows.astype(np.int32), columns.astype(np.int32))), shape=shape)
