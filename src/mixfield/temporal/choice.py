"""KSP*: one mode per frame and the tracks through them, with a certificate.

The linear relaxation is solved on few cells and proven on all of them: its multipliers give a lower bound by one flow
on the whole grid (relaxation.py), the cells which that flow uses join the programme, and so on until both agree.  The
fractions are rounded, then single frames change their mode while that helps.  Modes that the bound rules out are
struck off, which often leaves one per frame and proves the answer; otherwise the integer programme gets the time left.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from mixfield.temporal.costs import ModeCosts
from mixfield.temporal.flow import disjoint_paths
from mixfield.temporal.graph import Flow
from mixfield.temporal.program import Program
from mixfield.temporal.relaxation import LowerBound, lower_bound
from mixfield.temporal.timegrid import Ends, Motion, TimeGrid, unroll

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

PROMISING = 0.85  # cost below which a cell takes part from the start: q of at least 0.3
CLOSE = 1e-4  # relative difference of the bounds on few and on all cells at which no more cells are added
EXACT = 1e-7  # relative difference of two costs that are the same but for the solver's tolerance


@dataclass(frozen=True, eq=False)
class Path:
    """One track: its first frame and its cells, frame after frame."""

    first: int
    cells: Ints

    @property
    def frames(self) -> Ints:
        """(length,) frames, without gaps."""
        return np.arange(self.first, self.first + len(self.cells))


@dataclass(frozen=True, eq=False)
class ModeChoice:
    """An answer of KSP* and its certificate.

    Attributes
    ----------
    modes : (T,) the mode of each frame.
    paths : the tracks.
    cost : of modes and tracks.
    bound : no answer on any cells costs less.
    multipliers : (T, K, n) that prove nearly as much by one flow (see `lower_bound`), with all modes.
    """

    modes: Ints
    paths: tuple[Path, ...]
    cost: float
    bound: float
    multipliers: Floats = field(repr=False)


@dataclass(frozen=True, eq=False)
class _State:
    """What is known at some time: the best answer, the bound, the modes not yet ruled out, the cells that take part."""

    costs: ModeCosts
    motion: Motion
    ends: Ends
    grid: TimeGrid
    stop: float
    modes: Ints
    flow: Flow
    cost: float
    allowed: Bools
    active: Bools
    multipliers: Floats
    proof: LowerBound | None = None

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


def choose_modes(costs: ModeCosts, motion: Motion, ends: Ends | None = None, *, time_limit: float = 60.0) -> ModeChoice:
    """One mode per frame and disjoint paths through the cells, of least total cost.

    Parameters
    ----------
    costs : of modes and of people.
    motion : how people move, come and go.
    ends : where tracks may begin in the first and end in the last frame; anywhere if not given.
    time_limit : seconds, after which the best answer so far comes back with its bound.
    """
    state = _start(costs, motion, ends or Ends.open(motion), time.monotonic() + time_limit)
    state = _relax(state)
    for step in (_flip, _integer):
        if not state.proven:
            before, state = state, step(state)
            state = state if (state.allowed == before.allowed).all() else _relax(state)
    return _finish(state)


def _start(costs: ModeCosts, motion: Motion, ends: Ends, stop: float) -> _State:
    """The cheapest mode of each frame; promising cells, those of its paths, and the bridges between them."""
    T, _, n = costs.cell.shape
    grid = unroll(np.ones((T, n), bool), motion, ends)
    modes = costs.mode.argmin(1)
    flow, cost = _evaluate(costs, grid, modes)
    active = (costs.cell.min(1) <= PROMISING) | flow.used.reshape(T, n)
    return _State(
        costs, motion, ends, grid, stop, modes, flow, cost, costs.allowed, _bridged(active, motion),
        np.zeros(costs.cell.shape),
    )  # fmt: skip


def _bridged(active: Bools, motion: Motion) -> Bools:
    """Cells of a frame within reach of an active cell of the frame before and of one of the frame after, too."""
    near = motion.widen(active)
    bridges = np.zeros_like(active)
    bridges[1:-1] = near[:-2] & near[2:]
    return active | bridges


def _evaluate(costs: ModeCosts, grid: TimeGrid, modes: Ints) -> tuple[Flow, float]:
    """The best paths for given modes, and the cost of both."""
    flow = disjoint_paths(grid.graph, costs.chosen(modes)[grid.frame, grid.cell])
    return flow, flow.cost + costs.price(modes)


def _try(state: _State, modes: Ints) -> _State:
    """Keep ``modes`` if they are better than the best so far."""
    flow, cost = _evaluate(state.costs, state.grid, modes)
    return replace(state, modes=modes, flow=flow, cost=cost) if cost < state.cost else state


def _relax(state: _State) -> _State:
    """Bound and rounding: on more and more cells until the bound holds on all of them, then with fewer modes."""
    while not state.decided and state.seconds > 0:
        part = unroll(state.active, state.motion, state.ends)
        relaxed = Program.build(state.costs, part, state.allowed).relax(state.seconds)
        if relaxed is None:
            break
        proof = lower_bound(state.costs, state.grid, relaxed.multipliers, state.allowed)
        state = _try(_note(state, proof, relaxed.multipliers), relaxed.modes.argmax(1))
        if state.proven:
            return state
        fresh = proof.used & ~state.active
        if fresh.any() and relaxed.cost - proof.value > CLOSE * (1.0 + abs(relaxed.cost)):
            state = replace(state, active=state.active | fresh)
            continue
        before, state = state, _strike(state)
        if (state.allowed == before.allowed).all():
            return state
    free = np.zeros(state.costs.cell.shape)  # exact if one mode per frame is left; out of time, better than nothing
    state = _note(state, lower_bound(state.costs, state.grid, free, state.allowed), free)
    return _try(state, state.allowed.argmax(1)) if state.decided else state


def _note(state: _State, proof: LowerBound, multipliers: Floats) -> _State:
    """Keep a bound if it is better than the one so far, and its multipliers if they are for all modes."""
    if state.proof is not None and proof.value <= state.proof.value:
        return state
    if (state.allowed == state.costs.allowed).all():
        state = replace(state, multipliers=multipliers)
    return replace(state, proof=proof)


def _strike(state: _State) -> _State:
    """Rule out the modes that no better answer can choose."""
    assert state.proof is not None
    slack = EXACT * (1.0 + abs(state.cost))
    allowed = state.allowed & (state.proof.value + state.proof.regret <= state.cost + slack)
    allowed[np.arange(len(state.modes)), state.modes] = True
    return replace(state, allowed=allowed)


def _flip(state: _State) -> _State:
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
    return _strike(_try(state, modes))


def _integer(state: _State) -> _State:
    """The integer programme on the active cells, for the time that is left."""
    if state.seconds <= 0:
        return state
    part = unroll(state.active, state.motion, state.ends)
    modes = Program.build(state.costs, part, state.allowed).solve(state.seconds)
    return state if modes is None else _strike(_try(state, modes))


def _finish(state: _State) -> ModeChoice:
    grid = state.grid
    paths = tuple(Path(int(grid.frame[nodes[0]]), grid.cell[nodes]) for nodes in state.flow.paths())
    return ModeChoice(state.modes, paths, state.cost, state.bound, state.multipliers)
