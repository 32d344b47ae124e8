"""People on a ground plane: POM's iteration, damped parallel updates of the probability that each cell is empty.

``a_n <- s a_n + (1 - s) / (1 + exp(logit_n / T))`` with all logits from the same average images, and s of the energy or
adapted to each cell.  The free energy does not fall at every step, so a run ends when nothing moves any more, as in the
released program.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads, kernels
from mixfield.energy.occupancy import Occupancy
from mixfield.solvers.base import MeanFieldSolver
from mixfield.solvers.options import Ascent
from mixfield.solvers.tilt import Tilt

Floats = NDArray[np.float64]

RATE = 0.2  # 1 - s, at first where it is adapted
STILL_UPDATES = 5  # updates in a row that change nothing by more than the tolerance


class OccupancySolver(MeanFieldSolver):
    """POM's iteration for `Occupancy`."""

    family = "occupancy"
    reports_energies = False
    default_tolerance = 1e-4
    default_iterations = 300
    energy: Occupancy

    def solve(
        self,
        q: Floats,
        tilt: Tilt,
        *,
        temperature: float | Floats = 1.0,
        tolerance: float | None = None,
        max_iterations: int | None = None,
    ) -> Ascent:
        """Update a batch (K, n, 2) until nothing changes by ``tolerance`` any more."""
        q = q.copy()
        iterations, change = np.zeros(len(q), np.int32), np.zeros(len(q))
        converged = np.zeros(len(q), bool)
        energy, counts = self.energy, tilt.flat_counts()
        rule = kernels.occupancy.Rule(
            RATE if energy.damping is None else 1.0 - energy.damping,
            energy.damping is None,
            self.tolerance if tolerance is None else tolerance,
            STILL_UPDATES,
            self.max_iterations if max_iterations is None else max_iterations,
        )
        heat = np.full(len(q), temperature, np.float64)

        def work(first: int, last: int) -> None:
            kernels.occupancy.ascend(
                energy.views, energy.prior_costs, tilt.bias, tilt.bias_of, counts, heat, rule, first, last, q,
                iterations, change, converged,
            )  # fmt: skip

        _threads.split(work, len(q), self.options.threads, updates=float(len(q)) * len(energy.views.block))
        return Ascent(q, iterations, change, converged)
