"""Marginals of a field at higher temperatures, computed once for all leaves that allow the same labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mixfield.constraints.cell import Cell
from mixfield.solvers import starts
from mixfield.solvers.base import MeanFieldSolver
from mixfield.solvers.free_energy import entropies
from mixfield.solvers.tilt import Tilt

Floats = NDArray[np.float64]

TOLERANCE, MAX_ITERATIONS = 1e-2, 20  # roughly converged is enough to see what is uncertain


class AnnealedMarginals:
    """Marginals at some temperatures, each started near the uniform point and roughly converged.

    Labels that a cell forbids are forbidden there too; multipliers are not applied, so that cells that forbid the same
    labels share the result.
    """

    def __init__(self, solver: MeanFieldSolver, rng: np.random.Generator) -> None:
        self._solver, self._rng = solver, rng
        self._known: dict[tuple[float, bytes], Floats] = {}
        self._entropies: dict[tuple[float, bytes], Floats] = {}

    def at(self, temperatures: Sequence[float], cell: Cell) -> Floats:
        """(T, n, L) marginals."""
        labels = cell.allowed.tobytes()
        missing = np.array([t for t in temperatures if (float(t), labels) not in self._known], np.float64)
        if len(missing):
            start = np.repeat(starts.central(cell.allowed, self._rng)[None], len(missing), 0)
            run = self._solver.solve(
                start,
                Tilt.shared(cell.bias, len(missing)),
                temperature=missing,
                tolerance=TOLERANCE,
                max_iterations=MAX_ITERATIONS,
            )
            self._known.update(zip([(float(t), labels) for t in missing], run.q, strict=True))
        return np.stack([self._known[float(t), labels] for t in temperatures])

    def entropies(self, temperatures: Sequence[float], cell: Cell) -> Floats:
        """(T, n) entropies of the marginals in nats."""
        keys = [(float(t), cell.allowed.tobytes()) for t in temperatures]
        if any(key not in self._entropies for key in keys):
            self._entropies.update(zip(keys, entropies(self.at(temperatures, cell)), strict=True))
        return np.stack([self._entropies[key] for key in keys])
