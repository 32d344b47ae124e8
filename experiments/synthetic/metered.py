"""Factor graphs whose solver counts its sweeps: a measure of compute that does not depend on the machine."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from mixfield.energy import FactorGraph
from mixfield.solvers import Ascent, MeanFieldSolver, Solver, Tilt, solver_for
from mixfield.solvers.factor_graph import FactorGraphSolver

Floats = NDArray[np.float64]

ONE_THREAD = Solver(threads=1)


@dataclass
class Meter:
    """Number of sweeps over all variables, summed over modes and samples."""

    sweeps: int = 0


@dataclass(frozen=True, eq=False)
class MeteredGraph(FactorGraph):
    """A `FactorGraph` whose ``meter`` counts the sweeps of its mean fields and Gibbs samples."""

    meter: Meter = field(default_factory=Meter)

    @classmethod
    def from_graph(cls, graph: FactorGraph) -> MeteredGraph:
        """The same field with a meter."""
        return cls(**{entry.name: getattr(graph, entry.name) for entry in fields(FactorGraph)})

    def in_reading_order(self) -> MeteredGraph:
        """The same graph with updates in reading order; both have the same meter."""
        return cast(MeteredGraph, super().in_reading_order())


class MeteredSolver(FactorGraphSolver):
    """The solver of a `MeteredGraph`."""

    energy: MeteredGraph

    def solve(self, q: Floats, tilt: Tilt, **options: Any) -> Ascent:
        ascent = super().solve(q, tilt, **options)
        self.energy.meter.sweeps += int(ascent.iterations.sum())
        return ascent

    def cooled_starts(self, count: int, bias: Floats, temperatures: Floats, rng: np.random.Generator) -> Floats:
        self.energy.meter.sweeps += count * len(temperatures)
        return super().cooled_starts(count, bias, temperatures, rng)


@solver_for.register
def _(energy: MeteredGraph, options: Solver | None = None) -> MeanFieldSolver:
    return MeteredSolver(energy, options)
