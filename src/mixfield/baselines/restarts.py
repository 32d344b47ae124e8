"""Best of several cold starts: what most people do today."""

from __future__ import annotations

import numpy as np

from mixfield.energy.base import Energy, ability
from mixfield.solvers.mean_field import mean_field
from mixfield.solvers.mode import Mode
from mixfield.solvers.options import Solver


def restarts(
    energy: Energy, n_starts: int = 30, *, rng: int | np.random.Generator = 0, solver: Solver | None = None
) -> Mode:
    """The mean field with the highest bound among ``n_starts`` cold starts, factor graphs in reading order."""
    return mean_field(reading_order(energy), restarts=n_starts, rng=rng, solver=solver)


def reading_order(energy: Energy) -> Energy:
    """Sweeps from the first to the last variable, where an energy has an order: the strongest plain mean field."""
    in_order = ability(energy, "in_reading_order")
    return energy if in_order is None else in_order()
