"""A solver that counts its sweeps: compute that can be compared on any machine, however busy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.energy.base import Energy
from mixfield.energy.factor_graph import FactorGraph
from mixfield.solvers.ascent import Ascent
from mixfield.solvers.mean_field import Solver
from mixfield.solvers.tilt import Tilt

Floats = NDArray[np.float64]


@dataclass
class Meter:
    """How many times all variables of one mode or one sample were visited."""

    sweeps: int = 0


@dataclass(frozen=True)
class MeteredSolver(Solver):
    """A `Solver` on one thread whose ``meter`` counts every sweep of mean field and of Gibbs cooling."""

    threads: int = 1
    meter: Meter = field(default_factory=Meter)

    def ascend(self, energy: Energy, q: Floats, tilt: Tilt, **options: Any) -> Ascent:
        ascent = super().ascend(energy, q, tilt, **options)
        self.meter.sweeps += int(ascent.iterations.sum())
        return ascent

    def explore(self, energy: Energy, count: int, bias: Floats, heat: Floats, rng: np.random.Generator) -> Floats:
        if isinstance(energy, FactorGraph):  # other energies are cooled by `ascend`, which counts
            self.meter.sweeps += count * len(heat)
        return super().explore(energy, count, bias, heat, rng)
