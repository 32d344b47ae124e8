"""Mean field inside a cell: strict clamps first, then the smallest multipliers that keep it there.

A count is not always monotone in its multiplier: a mode can flip and stay flipped.  So each run starts from a *firm*
clamp (the whole group on the right side), is then *released*, and only if it leaves its cell is a multiplier bracketed,
from below, with warm starts from the firm point.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.clamping.cell import Cell
from mixfield.clamping.constraint import Cardinality
from mixfield.clamping.tail import AutoTail, Tail
from mixfield.energy.energy import Energy, fields
from mixfield.errors import InfeasibleError, MixfieldError
from mixfield.meanfield.free_energy import bounds
from mixfield.meanfield.solver import Solver
from mixfield.meanfield.tilt import Tilt

Floats = NDArray[np.float64]


HOLD = 3.0  # nats by which a seed is held more firmly than epsilon asks


@dataclass(frozen=True)
class Clamp:
    """How modes are held in their cells.

    Attributes
    ----------
    epsilon : largest probability outside each constraint (epsilon of the paper).
    tail : how a count is judged and pushed, see `mixfield.clamping.tail`.
    doublings : how often a multiplier may double before the cell is given up.
    bisections : steps that then bring it back towards zero; 0 keeps it, which is faster.
    seeded : begin "at least C" with its C most promising members and a multiplier that holds them, instead of the whole
        group: for groups of neighbours of which one is enough (people), where a little probability everywhere
        is a trap.
    """

    epsilon: float = 1e-4
    tail: Tail = field(default_factory=AutoTail)
    doublings: int = 24
    bisections: int = 4
    seeded: bool = False

    def __post_init__(self) -> None:
        if not 0 < _arrays.positive("epsilon", self.epsilon) < 0.5:
            raise MixfieldError(f"epsilon must lie in (0, 0.5), got {self.epsilon}")


@dataclass(frozen=True)
class Settled:
    """Modes that live in their cell: marginals (K, n, L), bounds, how the final runs ended, and what holds them.

    ``multipliers`` go by `Cardinality.identity`.
    """

    q: Floats
    log_z: Floats
    converged: NDArray[np.bool_]
    iterations: NDArray[np.int32]
    multipliers: Mapping[Hashable, float] = field(default_factory=dict)


def settle(energy: Energy, cell: Cell, starts: Floats, *, solver: Solver, clamp: Clamp) -> Settled:
    """Bring starts (K, n, L) to optima inside ``cell``; those that cannot be held there are left out."""
    starts = cell.project(starts)
    if cell.is_strict:
        run = solver.ascend(energy, starts, Tilt.shared(cell.bias, len(starts)))
        return Settled(run.q, bounds(energy, run.q), run.converged, run.iterations)
    kept = [one for start in starts for one in [_settle_one(energy, cell, start, solver, clamp)] if one is not None]
    if not kept:
        empty = np.empty((0, *starts.shape[1:]))
        return Settled(empty, np.empty(0), np.empty(0, bool), np.empty(0, np.int32))
    q, log_z, converged, iterations = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    return Settled(q, log_z, converged, iterations)


_Point = tuple[Floats, Floats, NDArray[np.bool_], NDArray[np.int32]]
_Run = Callable[[Floats, Floats], _Point]
_Outside = Callable[[_Point], Floats]


def _settle_one(energy: Energy, cell: Cell, start: Floats, solver: Solver, clamp: Clamp) -> _Point | None:
    """The best optimum inside the cell that is reached from one start, or None."""

    def run(q: Floats, multipliers: Floats) -> _Point:
        result = solver.ascend(energy, q, _tilt(cell, multipliers, clamp.tail))
        return result.q, bounds(energy, result.q), result.converged, result.iterations

    def outside(point: _Point) -> Floats:
        return np.array([clamp.tail.outside(c, point[0][0]) for c in cell.soft])

    found: list[_Point] = []
    for origin, initial in _origins(energy, cell, start, solver, clamp):
        point, multipliers = _bracket(run, outside, origin, initial, clamp)
        if multipliers.any() and clamp.bisections:
            point = _relax(run, outside, point, multipliers, clamp)
        if (outside(point) <= clamp.epsilon).all():
            found.append(point)
    return max(found, key=lambda point: float(point[1][0]), default=None)


def _origins(
    energy: Energy, cell: Cell, start: Floats, solver: Solver, clamp: Clamp
) -> Iterator[tuple[Floats, Floats]]:
    """Where to begin, (1, n, L), and with which multipliers."""
    if clamp.seeded:
        yield _seeded(energy, cell, start, clamp.epsilon)
        return
    firm = _firm(energy, cell, start, solver)
    if firm is not None:
        yield firm, np.zeros(len(cell.soft))
    yield start[None], np.zeros(len(cell.soft))


def _bracket(run: _Run, outside: _Outside, origin: Floats, initial: Floats, clamp: Clamp) -> tuple[_Point, Floats]:
    """Double the multipliers of the constraints that fail until none does."""
    multipliers = initial
    point = run(origin, multipliers)
    for _ in range(clamp.doublings):
        failing = outside(point) > clamp.epsilon
        if not failing.any():
            break
        multipliers = np.where(failing, np.maximum(1.0, 2.0 * multipliers), multipliers)
        point = run(origin, multipliers)
    return point, multipliers


def _relax(run: _Run, outside: _Outside, point: _Point, multipliers: Floats, clamp: Clamp) -> _Point:
    """Bring the multipliers towards zero as far as the mode stays inside; every step has the higher bound."""
    if (outside(point) > clamp.epsilon).any():
        return point
    released = run(point[0], np.zeros_like(multipliers))
    if (outside(released) <= clamp.epsilon).all():
        return released
    low, high = 0.0, 1.0
    for _ in range(clamp.bisections):
        middle = (low + high) / 2
        trial = run(point[0], middle * multipliers)
        if (outside(trial) <= clamp.epsilon).all():
            point, high = trial, middle
        else:
            low = middle
    return point


def _firm(energy: Energy, cell: Cell, start: Floats, solver: Solver) -> Floats | None:
    """The optimum with every soft group wholly on its side, (1, n, L), or None where earlier cuts exclude that."""
    firm = cell
    try:
        for c in cell.soft:
            firm = firm.cut(Cardinality(c.group, c.labels, len(c.group) if c.sign > 0 else 1, c.sign))
    except InfeasibleError:
        return None
    if not firm.is_strict:
        return None
    return solver.ascend(energy, firm.project(start[None]), Tilt.shared(firm.bias, 1)).q


def _seeded(energy: Energy, cell: Cell, start: Floats, epsilon: float) -> tuple[Floats, Floats]:
    """The start with the most promising members of each "at least C" on their side, and multipliers that hold them."""
    q, multipliers = start.copy(), np.zeros(len(cell.soft))
    field = fields(energy, start[None])[0]
    for k, c in enumerate(cell.soft):
        if c.sign < 0:
            continue
        own = field[c.group, c.labels]
        others = field[c.group].copy()
        others[np.arange(len(own)), c.labels] = np.inf
        advantage = others.min(1) - own
        worth = start[c.group, c.labels] if c.probability(start) > 0.5 else advantage
        seeds = np.argsort(-worth, kind="stable")[: c.count]
        q[c.group[seeds]] = epsilon**2
        q[c.group[seeds], c.labels[seeds]] = 1.0
        multipliers[k] = max(0.0, HOLD - np.log(epsilon) - advantage[seeds].min())
    return cell.project(q[None]), multipliers


def _tilt(cell: Cell, multipliers: Floats, tail: Tail) -> Tilt:
    """The potentials of one mode with the given multipliers."""
    bias = cell.bias.copy()
    potentials = [tail.potential(c, float(m), bias) for c, m in zip(cell.soft, multipliers, strict=True) if m > 0]
    return Tilt(bias[None], np.zeros(1, np.int32), (tuple(p for p in potentials if p is not None),))
