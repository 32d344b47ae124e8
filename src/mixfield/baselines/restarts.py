"""Best of several cold starts: what most people do today."""

from __future__ import annotations

import numpy as np

from mixfield.energy.energy import Energy
from mixfield.meanfield.mode import Mode
from mixfield.meanfield.solver import Solver, mean_field


def restarts(
    energy: Energy, n_starts: int = 30, *, rng: int | np.random.Generator = 0, solver: Solver | None = None
) -> Mode:
    """The mean field with the highest bound among ``n_starts`` cold starts."""
    return mean_field(energy, restarts=n_starts, rng=rng, solver=solver)
