"""Best of several cold starts: what most people do today."""

from __future__ import annotations

import numpy as np

from mixfield.energy.energy import Energy
from mixfield.energy.factor_graph import FactorGraph
from mixfield.meanfield.mode import Mode
from mixfield.meanfield.solver import Solver, mean_field


def restarts(
    energy: Energy, n_starts: int = 30, *, rng: int | np.random.Generator = 0, solver: Solver | None = None
) -> Mode:
    """The mean field with the highest bound among ``n_starts`` cold starts, factor graphs in reading order."""
    return mean_field(reading_order(energy), restarts=n_starts, rng=rng, solver=solver)


def reading_order(energy: Energy) -> Energy:
    """Sweeps from the first to the last variable, where an energy has an order: the strongest plain mean field."""
    return energy.in_reading_order() if isinstance(energy, FactorGraph) else energy
