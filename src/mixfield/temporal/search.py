"""KSP* by column generation, reduced-cost fixing and integer programs.

`relax` solves the linear relaxation on few cells.  Its multipliers give a lower bound on all cells by one min-cost flow
(relaxation.py); cells that this flow uses enter the program, until both bounds agree.  The fractions are rounded to an
answer, and modes whose reduced cost exceeds the gap are ruled out, which often leaves one per frame.

`improve` looks for a better answer by the integer program on these cells.

`certify` closes the gap: cells whose reduced cost exceeds it are on no better answer, and the integer program on all
others is small.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mixfield.temporal.costs import ModeCosts
from mixfield.temporal.flow import disjoint_paths
from mixfield.temporal.graph import Flow
from mixfield.temporal.program import NODES, Program
from mixfield.temporal.relaxation import LowerBound, bound_of_modes, cell_reduced_costs, lower_bound
from mixfield.temporal.timegrid import Ends, Motion, TimeGrid, unroll, unroll_all

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

PROMISING = 0.85  # cost below which a cell is active from the start: q of at least 0.3
CLOSE = 1e-4  # relative difference of the bounds on active and on all cells at which no more cells are added
EXACT = 1e-7  # relative difference of two costs that are equal up to the tolerance of the solver
LARGEST = 10_000  # cells of the integer program that certifies an answer: about ten seconds of HiGHS


@dataclass(frozen=True, eq=False)
class State:
    """The problem, the best answer so far and the best bound so far.

    Attributes
    ----------
    costs, motion, ends, grid : the problem; ``grid`` holds all cells.
    nodes : of branch and bound, for each integer program.
    deadline : on the monotonic clock; infinite for none.
    modes, flow, cost : the best answer.
    allowed : (T, K) modes that are not ruled out.
    active : (T, n) cells of the restricted programs.
    relaxed : the best relaxation, None before the first.
    multipliers : (T, K, n) those of the best relaxation with all modes.
    bound : no answer costs less.
    """

    costs: ModeCosts
    motion: Motion
    ends: Ends
    grid: TimeGrid
    nodes: int
    deadline: float
    modes: Ints
    flow: Flow
    cost: float
    allowed: Bools
    active: Bools
    relaxed: LowerBound | None = None
    multipliers: Floats | None = None
    bound: float = -np.inf

    @property
    def gap(self) -> float:
        """Distance of the best answer from the bound."""
        return self.cost - self.bound

    @property
    def proven(self) -> bool:
        """Whether no answer is better, up to rounding."""
        return self.gap <= self.slack

    @property
    def slack(self) -> float:
        """Difference of costs that means nothing."""
        return EXACT * (1.0 + abs(self.cost))

    @property
    def decided(self) -> bool:
        """One mode is left in each frame."""
        return bool((self.allowed.sum(1) == 1).all())

    @property
    def seconds(self) -> float:
        """Time that is left."""
        return self.deadline - time.monotonic()


def initialize(costs: ModeCosts, motion: Motion, ends: Ends, nodes: int = NODES, deadline: float = math.inf) -> State:
    """The cheapest mode of each frame; promising cells, those of its paths, and the bridges between them."""
    T, _, n = costs.cell.shape
    grid = unroll_all(T, motion, ends)
    modes = costs.mode.argmin(1)
    flow, cost = _evaluate(costs, grid, modes)
    active = bridged((costs.cell.min(1) <= PROMISING) | flow.used.reshape(T, n), motion)
    return State(costs, motion, ends, grid, nodes, deadline, modes, flow, cost, costs.allowed, active)


def bridged(active: Bools, motion: Motion) -> Bools:
    """Active cells, and cells within reach of one in the frame before and of one in the frame after."""
    near = motion.widen(active)
    bridges = np.zeros_like(active)
    bridges[1:-1] = near[:-2] & near[2:]
    return active | bridges


def relax(state: State) -> State:
    """Bound the allowed modes and rule some out, until no more are ruled out."""
    while not state.decided and not state.proven and state.seconds > 0:
        before, state = state, rule_out_modes(generate_cells(state))
        if (state.allowed == before.allowed).all():
            break
    unbounded = state.relaxed is None or (state.decided and not state.proven)
    return generate_cells(state) if unbounded else state


def generate_cells(state: State) -> State:
    """Column generation: the linear relaxation on more and more cells, until its bound holds on all of them."""
    while not state.decided and state.seconds > 0:
        solution = _restricted(state, state.active).relax(state.seconds)
        if solution is None:
            break
        relaxed = lower_bound(state.costs, state.grid, solution.multipliers, state.allowed)
        state = _update_answer(_update_bound(state, relaxed, solution.multipliers), solution.modes.argmax(1))
        fresh = relaxed.used & ~state.active
        difference = solution.cost - relaxed.value
        if state.proven or not fresh.any() or difference <= CLOSE * (1.0 + abs(solution.cost)):
            return state
        state = replace(state, active=state.active | fresh)
    zero = np.zeros(state.costs.cell.shape)  # exact if one mode per frame is left, else the bound of last resort
    if state.decided and (state.allowed.argmax(1) == state.modes).all():
        return _update_bound(state, bound_of_modes(state.costs, state.modes, state.flow), zero)
    state = _update_bound(state, lower_bound(state.costs, state.grid, zero, state.allowed), zero)
    return _update_answer(state, state.allowed.argmax(1)) if state.decided else state


def rule_out_modes(state: State) -> State:
    """Reduced-cost fixing: drop the modes that no better answer has."""
    assert state.relaxed is not None
    allowed = state.allowed & (state.relaxed.value + state.relaxed.mode_reduced_cost <= state.cost + state.slack)
    allowed[np.arange(len(state.modes)), state.modes] = True
    return replace(state, allowed=allowed)


def improve(state: State) -> State:
    """A better answer from the active cells, in at most half of the time; then fewer modes are allowed."""
    return rule_out_modes(_solve_integer(state, state.active, 0.5 * state.seconds))


def certify(state: State) -> State:
    """The best answer from all cells, with its bound."""
    return _solve_integer(state, np.ones_like(state.active), state.seconds)


def _solve_integer(state: State, cells: Bools, seconds: float) -> State:
    """Answer and bound by the integer program on those ``cells`` (T, n) that a better answer may pass.

    Reduced-cost fixing: a cell whose reduced cost exceeds the gap is on no better answer.  At most `LARGEST` cells take
    part; answers that pass another cell cost at least the relaxation plus its reduced cost.
    """
    assert state.relaxed is not None
    if seconds <= 0:
        return state
    reduced = cell_reduced_costs(state.relaxed, state.grid, state.motion)
    limit = state.cost + state.slack - state.relaxed.value
    if cells.sum() > LARGEST:
        limit = min(limit, float(np.partition(reduced[cells], LARGEST)[LARGEST]))
    part = cells & (reduced <= limit)
    solution = _restricted(state, part).solve(state.nodes, seconds)
    bound = min(solution.bound, state.relaxed.value + float(reduced[~part].min(initial=np.inf)))
    state = _update_answer(state, solution.modes)
    return replace(state, bound=max(state.bound, min(bound, state.cost)))


def _restricted(state: State, cells: Bools) -> Program:
    """The integer program of the allowed modes on some cells (T, n)."""
    return Program.build(state.costs, unroll(cells, state.motion, state.ends), state.allowed)


def _evaluate(costs: ModeCosts, grid: TimeGrid, modes: Ints) -> tuple[Flow, float]:
    """The best paths for given modes, and the cost of both."""
    flow = disjoint_paths(grid.graph, costs.chosen(modes)[grid.frame, grid.cell])
    return flow, flow.cost + costs.price(modes)


def _update_answer(state: State, modes: Ints | None) -> State:
    """Keep ``modes`` (T,) if they are better than the best so far."""
    if modes is None or (modes == state.modes).all():
        return state
    flow, cost = _evaluate(state.costs, state.grid, modes)
    if cost >= state.cost:
        return state
    return replace(state, modes=modes, flow=flow, cost=cost, bound=min(state.bound, cost))


def _update_bound(state: State, relaxed: LowerBound, multipliers: Floats) -> State:
    """Keep a relaxation if it is better than the best so far."""
    if state.relaxed is not None and relaxed.value <= state.relaxed.value:
        return state
    if (state.allowed == state.costs.allowed).all():
        state = replace(state, multipliers=multipliers)
    return replace(state, relaxed=relaxed, bound=min(relaxed.value, state.cost))
