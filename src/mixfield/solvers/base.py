"""What a solver is: the mean fields of one energy.

A solver answers four questions: how to bring marginals to a fixed point (`solve`), which bound they reach (`bounds`),
where runs may begin (`first_start`, `cooled_starts`), and when they have converged (`tolerance`).  `solve` is the only
one that a new family must answer; `mixfield.solvers.solver_for.register` makes it known.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.energy.base import ability, allowed_labels
from mixfield.solvers import free_energy, starts
from mixfield.solvers.mode import Mode
from mixfield.solvers.options import Ascent, Solver
from mixfield.solvers.temperature import largest_eigenvalue
from mixfield.solvers.tilt import Tilt

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

RESCUE_SWEEPS = 1000  # of the cooling that looks for a feasible state


class MeanFieldSolver(ABC):
    """The mean fields of one energy.

    Attributes
    ----------
    family : key of the table of defaults in `mixfield.mixture.families`.
    default_tolerance, default_iterations : where the options leave them open.
    anneals_independently : whether marginals at several temperatures are computed from the uniform point each, instead
        of following one path down from the highest.
    recombines : whether `recombined` makes a better state of several.
    reports_energies : whether modes know the energies of their labelings; False where ``of`` takes long.
    energy : what is minimised.
    options : what the user asked for.
    """

    family: ClassVar[str] = "generic"
    default_tolerance: ClassVar[float] = 1e-6
    default_iterations: ClassVar[int] = 2000
    anneals_independently: ClassVar[bool] = False
    recombines: ClassVar[bool] = False
    reports_energies: ClassVar[bool] = True

    def __init__(self, energy: Any, options: Solver | None = None) -> None:
        self.energy, self.options = energy, options or Solver()

    # ------------------------------------------------------------------ the one question of a new family

    @abstractmethod
    def solve(
        self,
        q: Floats,
        tilt: Tilt,
        *,
        temperature: float | Floats = 1.0,
        tolerance: float | None = None,
        max_iterations: int | None = None,
    ) -> Ascent:
        """Bring a batch of marginals (K, n, L) to fixed points of ``E + tilt`` at some temperature, one or (K,)."""

    # ------------------------------------------------------------------ questions with a general answer

    @property
    def tolerance(self) -> float:
        """Change of a marginal below which a run has converged."""
        return self.default_tolerance if self.options.tolerance is None else self.options.tolerance

    @property
    def max_iterations(self) -> int:
        """Updates after which a run stops."""
        return self.default_iterations if self.options.max_iterations is None else self.options.max_iterations

    @cached_property
    def allowed(self) -> Bools:
        """(n, L) labels each variable may take."""
        return allowed_labels(self.energy)

    def bounds(self, q: Floats, temperature: float = 1.0) -> Floats:
        """(K,) ``A = H(q) - E_q[E] / T`` of a batch (K, n, L); -inf where a mode touches a forbidden state."""
        return free_energy.bounds(self.energy, q, temperature)

    def first_start(self, allowed: Bools, rng: np.random.Generator) -> Floats:
        """(n, L) where a first run begins: at the energy's own ``start``, else near the uniform point."""
        own = ability(self.energy, "start")
        return starts.central(allowed, rng) if own is None else np.asarray(own, np.float64).reshape(allowed.shape)

    def cooled_starts(self, count: int, bias: Floats, temperatures: Floats, rng: np.random.Generator) -> Floats:
        """(count, n, L) starting points of good modes: mean fields that are cooled from random points.

        ``bias`` (n, L) is infinite where a label is forbidden.
        """
        if count == 0:
            return np.empty((0, *bias.shape))
        tilt = Tilt.shared(bias, count)
        q = starts.random(np.repeat(np.isfinite(bias)[None], count, 0), rng)
        for temperature in temperatures:
            q = self.solve(q, tilt, temperature=float(temperature), tolerance=1e-2, max_iterations=3).q
        return q

    @cached_property
    def good_states(self) -> Floats:
        """(S, n, L) states of low energy that are known beforehand, one-hot."""
        return np.empty((0, *self.allowed.shape))

    def recombined(self, states: Floats) -> Floats:
        """(R, n, L) states made of the best parts of several (K, n, L); the states themselves by default."""
        return states

    def mode(self, temperature: float, rng: np.random.Generator) -> Mode:
        """The mean field that begins at `first_start`."""
        return self.best_mode(self.first_start(self.allowed, rng)[None], temperature, rng)

    def best_mode(self, q: Floats, temperature: float, rng: np.random.Generator) -> Mode:
        """The mean field with the highest bound among those reached from a batch of starts (K, n, L)."""
        tilt = Tilt.shared(np.where(self.allowed, 0.0, np.inf), len(q))
        ascent = self.solve(q, tilt, temperature=temperature)
        if np.isneginf(self.bounds(ascent.q)).all():  # nothing feasible: sample other starts
            cooled = self.cooled_starts(len(q), tilt.bias[0], np.geomspace(10.0, 1.0, RESCUE_SWEEPS), rng)
            ascent = self.solve(cooled, tilt, temperature=temperature)
        best = int(np.argmax(self.bounds(ascent.q, temperature)))
        log_z = float(self.bounds(ascent.q[best : best + 1])[0])
        return Mode(
            marginals=_arrays.frozen(ascent.q[best].reshape(*self.energy.shape, self.energy.n_labels)),
            log_z=log_z,
            converged=bool(ascent.converged[best]) and log_z > -np.inf,
            iterations=int(ascent.iterations[best]),
            temperature=temperature,
        )

    def critical_temperature(self) -> float:
        """T_max = lambda / 2, see `mixfield.solvers.temperature`."""
        own = ability(self.energy, "critical_temperature")
        return float(own) if own is not None else max(0.0, largest_eigenvalue(self.energy, self.allowed) / 2)

    def reduced(self) -> tuple[MeanFieldSolver, NDArray[np.int64] | None]:
        """The solver of the same energy without labels that cannot matter, and the labels kept; None if all are."""
        return self, None

    def cheap_log_z(self) -> float | None:
        """The exact log Z where it takes milliseconds, else None."""
        return None

    def with_tolerance(self, tolerance: float) -> MeanFieldSolver:
        """The same solver with another tolerance."""
        twin = copy(self)
        twin.options = replace(self.options, tolerance=tolerance)
        return twin

    def with_buffers(self) -> MeanFieldSolver:
        """The same solver, prepared for many runs."""
        return self
