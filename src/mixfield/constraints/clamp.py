"""Mean field inside a cell: strict clamps first, then the smallest multipliers that keep it there (eqs. 13 and 14).

A count is not always monotone in its multiplier: a mode can flip and stay flipped.  So each run starts from a *firm*
clamp (the whole group on the right side), is then released, and only if it leaves its cell is a multiplier bracketed,
from below, with warm starts from the firm point.  All starts of a cell do this together, as one batch.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.constraints.cardinality import Cardinality
from mixfield.constraints.cell import Cell
from mixfield.constraints.solution import CellSolution
from mixfield.constraints.tail import AutoTail, Tail
from mixfield.energy.base import local_fields
from mixfield.errors import InfeasibleError, MixfieldError
from mixfield.solvers.base import MeanFieldSolver
from mixfield.solvers.tilt import Tilt

Floats = NDArray[np.float64]


LARGEST_FAILURE = 0.99  # probability of failing from which the first multiplier does not grow any more
MARGIN = 0.2  # nats added to the multiplier that the odds of failing suggest
ODDS_STEPS = 3  # steps after which multipliers double instead
SEED_MARGIN = 3.0  # nats by which a seed is held more firmly than epsilon asks


@dataclass(frozen=True)
class Clamp:
    """How modes are held in their cells.

    Attributes
    ----------
    epsilon : largest probability outside each constraint (epsilon of the paper).
    tail : how a count is judged and pushed, see `mixfield.constraints.tail`.
    doublings : how often a multiplier may double before the cell is given up.
    bisections : steps that then bring it back towards zero; 0 keeps it, which is faster.
    seeded : begin "at least C" with its C best members and a multiplier that holds them, instead of the whole group:
        for groups of neighbours of which one is enough (people), where a little probability everywhere is a bad
        local optimum.
    """

    epsilon: float = 1e-4
    tail: Tail = field(default_factory=AutoTail)
    doublings: int = 24
    bisections: int = 4
    seeded: bool = False

    def __post_init__(self) -> None:
        if not 0 < _arrays.positive("epsilon", self.epsilon) < 0.5:
            raise MixfieldError(f"epsilon must lie in (0, 0.5), got {self.epsilon}")


def solve_in_cell(solver: MeanFieldSolver, cell: Cell, starts: Floats, clamp: Clamp) -> CellSolution:
    """Bring starts (K, n, L) to optima inside ``cell``; those that cannot be held there are left out."""
    if len(starts) == 0:
        return CellSolution(starts, np.empty(0), np.empty(0, bool), np.empty(0, np.int32))
    starts = cell.project(starts)
    if cell.is_strict:
        run = solver.solve(starts, Tilt.shared(cell.bias, len(starts)))
        return CellSolution(run.q, solver.bounds(run.q), run.converged, run.iterations)
    origins, start_of, initial = _origins(solver, cell, starts, clamp)
    points = _Points.of(solver, cell, origins, initial, clamp)
    points.bracket(origins)
    if clamp.bisections:
        points.relax()
    return points.best_of(start_of)


@dataclass(eq=False)
class _Points:
    """Modes (K, n, L) in one cell, each with multipliers (K, m) of its own."""

    solver: MeanFieldSolver
    cell: Cell
    clamp: Clamp
    q: Floats
    multipliers: Floats
    outside: Floats  # (K, m) probability that each soft constraint fails
    converged: NDArray[np.bool_]
    iterations: NDArray[np.int32]

    @staticmethod
    def of(solver: MeanFieldSolver, cell: Cell, origins: Floats, multipliers: Floats, clamp: Clamp) -> _Points:
        """The optima reached from ``origins`` under these multipliers."""
        run = solver.solve(origins, _tilt(cell, multipliers, clamp.tail))
        outside = np.array([[clamp.tail.outside(c, q) for c in cell.soft] for q in run.q])
        return _Points(solver, cell, clamp, run.q, multipliers, outside, run.converged, run.iterations)

    def bracket(self, origins: Floats) -> None:
        """Raise the multipliers of the constraints that fail until none does.

        A multiplier divides the odds of failing by its exponential if nothing else changes, which gives the first
        steps; after these, multipliers double.
        """
        for attempt in range(self.clamp.doublings):
            failing = self.outside > self.clamp.epsilon
            again = np.flatnonzero(failing.any(1))
            if len(again) == 0:
                break
            before, outside = self.multipliers[again], np.clip(self.outside[again], self.clamp.epsilon, LARGEST_FAILURE)
            missing = np.log(outside / (1.0 - outside)) - np.log(self.clamp.epsilon / (1.0 - self.clamp.epsilon))
            raised = np.maximum(before + missing + MARGIN, 2.0 * before if attempt >= ODDS_STEPS else 0.0)
            self._take(again, self._run(origins[again], np.where(failing[again], raised, before)))

    def relax(self) -> None:
        """Bring the multipliers towards zero as far as the modes stay inside; every step has the higher bound."""
        held = np.flatnonzero(self.multipliers.any(1) & self.inside)
        if len(held) == 0:
            return
        full, firm = self.multipliers[held], self.q[held]
        released = self._run(firm, np.zeros_like(full))
        self._take(held[released.inside], released.chosen(released.inside))
        bound = ~released.inside
        held, full = held[bound], full[bound]
        low, high = np.zeros(len(held)), np.ones(len(held))
        for _ in range(self.clamp.bisections if len(held) else 0):
            middle = (low + high) / 2
            trial = self._run(self.q[held], middle[:, None] * full)
            self._take(held[trial.inside], trial.chosen(trial.inside))
            low, high = np.where(trial.inside, low, middle), np.where(trial.inside, middle, high)

    def best_of(self, start_of: NDArray[np.int64]) -> CellSolution:
        """Of the modes inside that came from the same start the one with the highest bound, in the order of starts."""
        inside = np.flatnonzero(self.inside)
        log_z = self.solver.bounds(self.q[inside]) if len(inside) else np.empty(0)
        ranked = np.lexsort((-log_z, start_of[inside]))
        _, first = np.unique(start_of[inside][ranked], return_index=True)
        best = ranked[first]
        kept = inside[best]
        return CellSolution(self.q[kept], log_z[best], self.converged[kept], self.iterations[kept])

    @property
    def inside(self) -> NDArray[np.bool_]:
        """(K,) which modes live in the cell."""
        return np.asarray((self.outside <= self.clamp.epsilon).all(1))

    def chosen(self, which: NDArray[np.bool_]) -> _Points:
        """Some of them."""
        return replace(self, **{name: getattr(self, name)[which] for name in _PARTS})

    def _run(self, origins: Floats, multipliers: Floats) -> _Points:
        return _Points.of(self.solver, self.cell, origins, multipliers, self.clamp)

    def _take(self, places: NDArray[np.int64], others: _Points) -> None:
        for name in _PARTS:
            getattr(self, name)[places] = getattr(others, name)


_PARTS = ("q", "multipliers", "outside", "converged", "iterations")


def _origins(
    solver: MeanFieldSolver, cell: Cell, starts: Floats, clamp: Clamp
) -> tuple[Floats, NDArray[np.int64], Floats]:
    """Where to begin (K', n, L), which start each belongs to, and with which multipliers (K', m)."""
    own, none = np.arange(len(starts)), np.zeros((len(starts), len(cell.soft)))
    if clamp.seeded:
        seeded = [_seeded(solver, cell, start, clamp.epsilon) for start in starts]
        return np.concatenate([q for q, _ in seeded]), own, np.stack([m for _, m in seeded])
    firm = _firm(solver, cell, starts)
    if firm is None:
        return starts, own, none
    return np.concatenate([firm, starts]), np.concatenate([own, own]), np.concatenate([none, none])


def _firm(solver: MeanFieldSolver, cell: Cell, starts: Floats) -> Floats | None:
    """Optima (K, n, L) with every soft group wholly on its side, or None where earlier cuts exclude that."""
    firm = cell
    try:
        for c in cell.soft:
            firm = firm.cut(Cardinality(c.group, c.labels, len(c.group) if c.sign > 0 else 1, c.sign))
    except InfeasibleError:
        return None
    if not firm.is_strict:
        return None
    return solver.solve(firm.project(starts), Tilt.shared(firm.bias, len(starts))).q


def _seeded(solver: MeanFieldSolver, cell: Cell, start: Floats, epsilon: float) -> tuple[Floats, Floats]:
    """The start with the best C members of each "at least C" on their side, and multipliers that hold them."""
    q, multipliers = start.copy(), np.zeros(len(cell.soft))
    field = local_fields(solver.energy, start[None])[0]
    for k, c in enumerate(cell.soft):
        if c.sign < 0:
            continue
        own = field[c.group, c.labels]
        others = field[c.group].copy()
        others[np.arange(len(own)), c.labels] = np.inf
        advantage = others.min(1) - own
        score = start[c.group, c.labels] if c.probability(start) > 0.5 else advantage
        seeds = np.argsort(-score, kind="stable")[: c.count]
        q[c.group[seeds]] = epsilon**2
        q[c.group[seeds], c.labels[seeds]] = 1.0
        multipliers[k] = max(0.0, SEED_MARGIN - np.log(epsilon) - advantage[seeds].min())
    return cell.project(q[None]), multipliers


def _tilt(cell: Cell, multipliers: Floats, tail: Tail) -> Tilt:
    """The potentials of modes with multipliers (K, m); unary ones go into a bias of each mode's own."""
    shared, biases, counts = cell.bias, [cell.bias], []
    bias_of = np.zeros(len(multipliers), np.int32)
    for k, row in enumerate(multipliers):
        bias = shared.copy()
        potentials = [tail.potential(c, float(m), bias) for c, m in zip(cell.soft, row, strict=True) if m > 0]
        counts.append(tuple(p for p in potentials if p is not None))
        if len(counts[-1]) < len(potentials):
            bias_of[k] = len(biases)
            biases.append(bias)
    return Tilt(np.stack(biases), bias_of, tuple(counts))
