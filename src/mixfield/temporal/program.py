"""KSP* as a mixed integer program (the paper's appendix), in a smaller form.

The printed program has a flow x_{k,i,l,j} from mode k at cell i to mode l at cell j.  Here the flow f_{ij} does not
depend on modes, and z_{k,i} says by which mode a cell is passed:

    min   sum_t sum_k C_k y_k + sum_t sum_k sum_i C_{k,i} z_{k,i}
    s.t.  inflow(i) = outflow(i) = sum_k z_{k,i},    0 <= z_{k,i} <= y_k,    sum_k y_k = 1,    y binary

Given (f, z), x = f_ij (z_{k,i} / Z_i) (z_{l,j} / Z_j) with Z_i = sum_k z_{k,i} satisfies the printed constraints at the
same cost, and sums of x over modes give (f, z) back: the same bound and the same optimum with K^2 times fewer flow
variables.  Source and sink, which the appendix leaves out, are those of KSP.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.temporal.costs import ModeCosts
from mixfield.temporal.timegrid import TimeGrid

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

SHORTEST = 0.01  # seconds that HiGHS gets at least
PIVOTS = 200_000  # iterations of a linear program, about a minute
NODES = 200  # of branch and bound of an integer program
RELATIVE_GAP = 1e-9  # at which an integer program counts as solved


@dataclass(frozen=True, eq=False)
class LinearSolution:
    """An optimum of the linear relaxation.

    Attributes
    ----------
    cost : its value, a lower bound of KSP* on the cells of the program.
    modes : (T, K) fractions y.
    multipliers : (T, K, n) dual values of z <= y, zero at cells that are not in the program.
    """

    cost: float
    modes: Floats
    multipliers: Floats


@dataclass(frozen=True, eq=False)
class IntegerSolution:
    """What the integer program found within its limits.

    Attributes
    ----------
    modes : (T,) of the best answer, None if there is none.
    bound : no answer on the cells of the program costs less.
    """

    modes: Ints | None
    bound: float


@dataclass(frozen=True, eq=False)
class _Variables:
    """The columns of the program: entries, exits, arcs (a flow), z (node, mode), y (frame, mode), in this order.

    Attributes
    ----------
    entries, exits : nodes where paths may begin and end.
    tail, head : nodes of the arcs.
    node, mode : of each z.
    frame, choice : frame and mode of each y.
    """

    entries: Ints
    exits: Ints
    tail: NDArray[np.int32]
    head: Ints
    node: Ints
    mode: Ints
    frame: Ints
    choice: Ints

    @staticmethod
    def of(costs: ModeCosts, grid: TimeGrid, allowed: Bools) -> _Variables:
        """The variables with finite costs."""
        graph = grid.graph
        entries, exits = np.flatnonzero(np.isfinite(graph.entry)), np.flatnonzero(np.isfinite(graph.exit))
        head = np.repeat(np.arange(graph.n), np.diff(graph.start))
        node, mode = np.nonzero(allowed[grid.frame] & np.isfinite(costs.cell[grid.frame, :, grid.cell]))
        return _Variables(entries, exits, graph.tail, head, node, mode, *np.nonzero(allowed))

    @property
    def columns(self) -> list[Ints]:
        """Column numbers of entries, exits, arcs, z and y."""
        counts = [len(part) for part in (self.entries, self.exits, self.head, self.node, self.frame)]
        ends = np.cumsum(counts)
        return [np.arange(end - count, end) for count, end in zip(counts, ends, strict=True)]


@dataclass(frozen=True, eq=False)
class Program:
    """The program on the cells of a time grid and the allowed modes.

    Attributes
    ----------
    costs, grid : what it is made from.
    variables : its columns.
    objective : their costs.
    equalities, right : flow conservation and one mode per frame, ``equalities @ x = right``.
    coupling : z <= y, ``coupling @ x <= 0``.
    """

    costs: ModeCosts
    grid: TimeGrid
    variables: _Variables
    objective: Floats
    equalities: Any
    right: Floats
    coupling: Any

    @staticmethod
    def build(costs: ModeCosts, grid: TimeGrid, allowed: Bools) -> Program:
        """The program with the modes ``allowed`` (T, K)."""
        variables = _Variables.of(costs, grid, allowed)
        right = np.concatenate([np.zeros(2 * grid.graph.n), np.ones(len(allowed))])
        return Program(
            costs,
            grid,
            variables,
            _objective(costs, grid, variables),
            _equalities(variables, grid.graph.n, len(allowed)),
            right,
            _coupling(variables, grid, allowed.shape),
        )

    def relax(self, seconds: float = math.inf) -> LinearSolution | None:
        """The linear relaxation; None if it takes more than `PIVOTS` iterations or ``seconds``."""
        from scipy.optimize import linprog

        answer = linprog(
            self.objective,
            A_ub=self.coupling,
            b_ub=np.zeros(self.coupling.shape[0]),
            A_eq=self.equalities,
            b_eq=self.right,
            bounds=(0, 1),
            method="highs",
            options={"maxiter": PIVOTS, "time_limit": max(seconds, SHORTEST)},
        )
        if answer.status != 0 or answer.x is None or answer.fun is None:
            return None
        node, mode = self.variables.node, self.variables.mode
        multipliers = np.zeros(self.costs.cell.shape)
        multipliers[self.grid.frame[node], mode, self.grid.cell[node]] = np.maximum(-answer.ineqlin.marginals, 0.0)
        return LinearSolution(float(answer.fun), self._modes(answer.x), multipliers)

    def solve(self, nodes: int = NODES, seconds: float = math.inf) -> IntegerSolution:
        """The integer program: the best answer of so many nodes of branch and bound (HiGHS), and its bound."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        integrality = np.zeros(len(self.objective), np.int64)
        integrality[self.variables.columns[-1]] = 1
        answer = milp(
            self.objective,
            integrality=integrality,
            bounds=Bounds(0, 1),
            constraints=[
                LinearConstraint(self.equalities, self.right, self.right),
                LinearConstraint(self.coupling, -np.inf, 0.0),
            ],
            options={"node_limit": nodes, "mip_rel_gap": RELATIVE_GAP, "time_limit": max(seconds, SHORTEST)},
        )
        bound = -np.inf if answer.mip_dual_bound is None else float(answer.mip_dual_bound)
        return IntegerSolution(None if answer.x is None else self._modes(answer.x).argmax(1), bound)

    def _modes(self, x: Floats) -> Floats:
        """(T, K) the variables y."""
        y = np.zeros(self.costs.mode.shape)
        y[self.variables.frame, self.variables.choice] = x[self.variables.columns[-1]]
        return y


def _objective(costs: ModeCosts, grid: TimeGrid, variables: _Variables) -> Floats:
    """Costs of the columns."""
    node = variables.node
    return np.concatenate(
        [
            grid.graph.entry[variables.entries],
            grid.graph.exit[variables.exits],
            grid.graph.arc_cost,
            costs.cell[grid.frame[node], variables.mode, grid.cell[node]],
            costs.mode[variables.frame, variables.choice],
        ]
    )


def _equalities(variables: _Variables, n: int, frames: int) -> Any:
    """Rows: inflow(i) - sum_k z_{k,i} = 0, outflow(i) - sum_k z_{k,i} = 0, and sum_k y_k = 1."""
    entry, exit_, arc, z, y = variables.columns
    blocks = [
        (variables.entries, entry, 1.0),
        (variables.head, arc, 1.0),
        (variables.node, z, -1.0),
        (n + variables.exits, exit_, 1.0),
        (n + variables.tail, arc, 1.0),
        (n + variables.node, z, -1.0),
        (2 * n + variables.frame, y, 1.0),
    ]
    return _sparse(blocks, (2 * n + frames, int(y[-1]) + 1))


def _coupling(variables: _Variables, grid: TimeGrid, shape: tuple[int, ...]) -> Any:
    """Rows: z_{k,i} - y_k <= 0."""
    *_, z, y = variables.columns
    column = np.full(shape, -1, np.int64)
    column[variables.frame, variables.choice] = y
    row = np.arange(len(z))
    blocks = [(row, z, 1.0), (row, column[grid.frame[variables.node], variables.mode], -1.0)]
    return _sparse(blocks, (len(z), int(y[-1]) + 1))


def _sparse(blocks: list[tuple[Any, Any, float]], shape: tuple[int, int]) -> Any:
    """A matrix of blocks of rows, columns and a value; with 32-bit indices, because SciPy 1.13 solves no others."""
    from scipy.sparse import csr_array

    rows, columns = (np.concatenate([block[axis] for block in blocks]).astype(np.int32) for axis in (0, 1))
    values = np.concatenate([np.full(len(row), value) for row, _, value in blocks])
    return csr_array((values, (rows, columns)), shape=shape)
