"""KSP* step by step: what is known about one mode per frame, and the steps that learn more.

The linear relaxation is solved on few cells and proven on all of them: its multipliers give a lower bound by one flow
on the whole grid (relaxation.py), the cells which that flow uses join the programme, and so on until both agree.  The
fractions are rounded, then single frames change their mode while that helps.  Modes that the bound rules out are
struck off, which often leaves one per frame and proves the answer; otherwise the integer programme has its turn.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mixfield.temporal.costs import ModeCosts
from mixfield.temporal.flow import disjoint_paths
from mixfield.temporal.graph import Flow
from mixfield.temporal.program import Program
from mixfield.temporal.relaxation import LowerBound, Piece, lower_bound
from mixfield.temporal.timegrid import Ends, Motion, TimeGrid, unroll, unroll_all

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

PROMISING = 0.85  # cost below which a cell takes part from the start: q of at least 0.3
CLOSE = 1e-4  # relative difference of the bounds on few and on all cells at which no more cells are added
EXACT = 1e-7  # relative difference of two costs that are the same but for the solver's tolerance


@dataclass(frozen=True, eq=False)
class State:
    """What is known at some time: the best answer, and the bound of the choices from a domain of modes.

    Attributes
    ----------
    costs, motion, ends, grid : the question; ``grid`` holds all cells.
    stop : when to stop, on the monotonic clock.
    modes, flow, cost : the best answer.
    domain, allowed : (T, K) modes that the bound is about, and those of them that are not yet ruled out.
    active : (T, n) cells that take part in the programme.
    proof : the bound.
    piece, fractions : multipliers that prove the bound of the domain, and the modes (T, K) of their relaxation.
    """

    costs: ModeCosts
    motion: Motion
    ends: Ends
    grid: TimeGrid
    stop: float
    modes: Ints
    flow: Flow
    cost: float
    domain: Bools
    allowed: Bools
    active: Bools
    proof: LowerBound | None = None
    piece: Piece | None = None
    fractions: Floats | None = None

    @property
    def bound(self) -> float:
        return -np.inf if self.proof is None else min(self.proof.value, self.cost)

    @property
    def proven(self) -> bool:
        return self.cost - self.bound <= EXACT * (1.0 + abs(self.cost))

    @property
    def decided(self) -> bool:
        return bool((self.allowed.sum(1) == 1).all())

    @property
    def seconds(self) -> float:
        return self.stop - time.monotonic()


def start(costs: ModeCosts, motion: Motion, ends: Ends, stop: float) -> State:
    """The cheapest mode of each frame; promising cells, those of its paths, and the bridges between them."""
    T, _, n = costs.cell.shape
    grid = unroll_all(T, motion, ends)
    modes = costs.mode.argmin(1)
    flow, cost = _evaluate(costs, grid, modes)
    active = (costs.cell.min(1) <= PROMISING) | flow.used.reshape(T, n)
    return State(
        costs, motion, ends, grid, stop, modes, flow, cost, costs.allowed, costs.allowed,
        bridged(active, motion),
    )  # fmt: skip


def bridged(active: Bools, motion: Motion) -> Bools:
    """Cells of a frame within reach of an active cell of the frame before and of one of the frame after, too."""
    near = motion.widen(active)
    bridges = np.zeros_like(active)
    bridges[1:-1] = near[:-2] & near[2:]
    return active | bridges


def _evaluate(costs: ModeCosts, grid: TimeGrid, modes: Ints) -> tuple[Flow, float]:
    """The best paths for given modes, and the cost of both."""
    flow = disjoint_paths(grid.graph, costs.chosen(modes)[grid.frame, grid.cell])
    return flow, flow.cost + costs.price(modes)


def attempt(state: State, modes: Ints) -> State:
    """Keep ``modes`` if they are better than the best so far."""
    if (modes == state.modes).all():
        return state
    flow, cost = _evaluate(state.costs, state.grid, modes)
    return replace(state, modes=modes, flow=flow, cost=cost) if cost < state.cost else state


def relax(state: State) -> State:
    """Bound and rounding, then again with the modes that are left, while any are ruled out."""
    while not state.decided and not state.proven and state.seconds > 0:
        before, state = state, strike(price(state))
        if (state.allowed == before.allowed).all():
            break
    unsettled = state.proof is None or (state.decided and not state.proven)
    return price(state) if unsettled else state


def price(state: State) -> State:
    """The bound for the allowed modes: the relaxation on more and more cells, until its bound holds on all of them."""
    while not state.decided and state.seconds > 0:
        part = unroll(state.active, state.motion, state.ends)
        relaxed = Program.build(state.costs, part, state.allowed).relax(state.seconds)
        if relaxed is None:
            break
        proof = lower_bound(state.costs, state.grid, relaxed.multipliers, state.allowed)
        state = attempt(_note(state, proof, relaxed.multipliers, relaxed.modes), relaxed.modes.argmax(1))
        fresh = proof.used & ~state.active
        if state.proven or not fresh.any() or relaxed.cost - proof.value <= CLOSE * (1.0 + abs(relaxed.cost)):
            return state
        state = replace(state, active=state.active | fresh)
    free = np.zeros(state.costs.cell.shape)  # exact if one mode per frame is left; out of time, better than nothing
    proof = lower_bound(state.costs, state.grid, free, state.allowed)
    state = _note(state, proof, free, state.allowed / state.allowed.sum(1, keepdims=True))
    return attempt(state, state.allowed.argmax(1)) if state.decided else state


def _note(state: State, proof: LowerBound, multipliers: Floats, fractions: Floats) -> State:
    """Keep a bound if it is better than the one so far, and what proves it if that is for the whole domain."""
    if state.proof is not None and proof.value <= state.proof.value:
        return state
    if (state.allowed == state.domain).all():
        found = Piece(state.domain, csr_array(multipliers.reshape(-1, multipliers.shape[2])))
        state = replace(state, piece=found, fractions=fractions)
    return replace(state, proof=proof)


def strike(state: State) -> State:
    """Rule out the modes that no better answer can choose."""
    assert state.proof is not None
    slack = EXACT * (1.0 + abs(state.cost))
    allowed = state.allowed & (state.proof.value + state.proof.regret <= state.cost + slack)
    allowed[np.arange(len(state.modes)), state.modes] = True
    return replace(state, allowed=allowed)


def flip(state: State) -> State:
    """Change the mode of one frame at a time, while that helps, on the active cells."""
    part = unroll(state.active, state.motion, state.ends)
    modes = state.modes.copy()
    best = _evaluate(state.costs, part, modes)[1]
    last, t = 0, 0  # the frame that changed last, and the frame to look at
    while t - last < len(modes) and state.seconds > 0:
        here = t % len(modes)
        for k in np.flatnonzero(state.allowed[here]):
            kept = modes[here]
            modes[here] = k
            cost = _evaluate(state.costs, part, modes)[1] if k != kept else np.inf
            if cost < best - EXACT * (1.0 + abs(best)):
                best, last = cost, t
            else:
                modes[here] = kept
        t += 1
    return strike(attempt(state, modes))


def integer(state: State) -> State:
    """The integer programme on the active cells, for half of the time that is left."""
    if state.seconds <= 0:
        return state
    part = unroll(state.active, state.motion, state.ends)
    modes = Program.build(state.costs, part, state.allowed).solve(0.5 * state.seconds)
    return state if modes is None else strike(attempt(state, modes))
