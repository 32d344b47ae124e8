"""Energies of which only the local field is known: damped parallel updates with an adaptive step.

Natural-gradient ascent of Baqué et al. (2016): the logits move a step towards the field,
``theta <- (1 - eta) theta - eta field / T``.  A step that lets the free energy rise is taken back and halved.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mixfield import _simplex
from mixfield.energy.base import Energy, expectations, local_fields
from mixfield.solvers.base import MeanFieldSolver
from mixfield.solvers.free_energy import entropies
from mixfield.solvers.options import Ascent
from mixfield.solvers.tilt import Tilt

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

SMALLEST = 1e-30  # probability from which a label can still come back
LARGEST = 1e8  # costs above it are as good as forbidden
SMALLEST_STEP = 1e-6


class GenericSolver(MeanFieldSolver):
    """Damped parallel updates; ``slack`` is the relative rise of the free energy that rounding may cause."""

    family = "generic"
    slack: ClassVar[float] = 1e-9

    def solve(
        self,
        q: Floats,
        tilt: Tilt,
        *,
        temperature: float | Floats = 1.0,
        tolerance: float | None = None,
        max_iterations: int | None = None,
    ) -> Ascent:
        tolerance = self.tolerance if tolerance is None else tolerance
        max_iterations = self.max_iterations if max_iterations is None else max_iterations
        state = _State.at(self.energy, q, tilt, np.full(len(q), temperature, np.float64), self.slack)
        while state.active.any():
            state.step(tolerance, max_iterations)
        return Ascent(state.q, state.iterations, state.change, state.change <= tolerance)


@dataclass
class _State:
    """A batch of modes (K, n, L) on the way to their fixed points.

    ``step_size`` and ``active`` (K,) are eta and whether a mode still moves; ``gradient`` and ``free_energy`` belong to
    ``q``; ``last_move`` is the last accepted step.
    """

    energy: Energy
    tilt: Tilt
    temperature: Floats
    slack: float
    logits: Floats
    q: Floats
    gradient: Floats
    free_energy: Floats
    last_move: Floats
    step_size: Floats = field(init=False)
    active: Bools = field(init=False)
    iterations: NDArray[np.int32] = field(init=False)
    change: Floats = field(init=False)

    def __post_init__(self) -> None:
        n_modes = len(self.q)
        self.step_size, self.active = np.ones(n_modes), np.ones(n_modes, bool)
        self.iterations, self.change = np.zeros(n_modes, np.int32), np.full(n_modes, np.inf)

    @staticmethod
    def at(energy: Energy, q: Floats, tilt: Tilt, temperature: Floats, slack: float) -> _State:
        gradient = _gradient(energy, q, tilt)
        logits = np.where(np.isinf(gradient), -np.inf, np.log(np.maximum(q, SMALLEST)))
        q = _simplex.softmax(logits)
        gradient, free = _gradient(energy, q, tilt), _free_energy(energy, q, tilt, temperature)
        return _State(energy, tilt, temperature, slack, logits, q, gradient, free, np.zeros_like(q))

    def step(self, tolerance: float, max_iterations: int) -> None:
        """One step of every active mode, accepted if its free energy does not rise."""
        eta = np.where(self.active, self.step_size, 0.0)[:, None, None]
        target = -self.gradient / self.temperature[:, None, None]
        with np.errstate(invalid="ignore"):
            logits = np.where(np.isinf(self.gradient), -np.inf, (1.0 - eta) * self.logits + eta * target)
        q = _simplex.softmax(logits)
        free = _free_energy(self.energy, q, self.tilt, self.temperature)
        margin = self.slack * np.maximum(1.0, np.abs(self.free_energy))
        accepted = self.active & (free <= self.free_energy + margin)
        # where the free energy is flat, a step against the last one reveals an oscillation
        reversal = ((q - self.q) * self.last_move).sum(axis=(1, 2)) < 0
        oscillates = reversal & (free >= self.free_energy - margin)
        distance = np.abs(q - self.q).max(axis=(1, 2), initial=0.0)
        self.change = np.where(accepted, distance / np.maximum(self.step_size, 1e-12), self.change)
        self.iterations += self.active
        self.last_move[accepted] = (q - self.q)[accepted]
        self.logits[accepted], self.q[accepted], self.free_energy[accepted] = (
            logits[accepted],
            q[accepted],
            free[accepted],
        )
        self._adapt(accepted, oscillates)
        going = (self.change > tolerance) & (self.iterations < max_iterations) & (self.step_size >= SMALLEST_STEP)
        self.active &= going
        if accepted.any():
            self.gradient = _gradient(self.energy, self.q, self.tilt)

    def _adapt(self, accepted: Bools, oscillates: Bools) -> None:
        """Larger steps after success, smaller ones after an oscillation, half after a rise."""
        after_success = np.where(oscillates, 0.7 * self.step_size, np.minimum(1.0, 1.2 * self.step_size))
        after_failure = np.where(self.active, 0.5 * self.step_size, self.step_size)
        self.step_size = np.where(accepted, after_success, after_failure)


def _gradient(energy: Energy, q: Floats, tilt: Tilt) -> Floats:
    gradient = np.minimum(local_fields(energy, q), LARGEST)
    tilt.add_to(gradient, q)
    return gradient


def _free_energy(energy: Energy, q: Floats, tilt: Tilt, temperature: Floats) -> Floats:
    return expectations(energy, q) + tilt.expected(q) - temperature * entropies(q).sum(1)
