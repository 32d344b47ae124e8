"""The mode of each cell from that of its parent, without a search: plain mean field in every leaf."""

from __future__ import annotations

import numpy as np

from mixfield.constraints.cell import Cell
from mixfield.constraints.clamp import Clamp
from mixfield.constraints.solution import CellSolution
from mixfield.mixture.finder import ClampedFinder
from mixfield.solvers.base import MeanFieldSolver


class DirectFinder(ClampedFinder):
    """One run per cell, started at its parent's mode."""

    def __init__(
        self, solver: MeanFieldSolver, rng: np.random.Generator, clamp: Clamp, *, n_temperatures: int = 8
    ) -> None:
        super().__init__(solver, rng, clamp)
        self.n_temperatures = n_temperatures

    def root(self, cell: Cell) -> CellSolution:
        """The mean field from the solver's own start."""
        return self.root_from(cell, self.solver.first_start(self.solver.allowed, self.rng)[None])

    def solve_in_cell(self, cell: Cell, parent: CellSolution) -> CellSolution | None:
        """The mode of a cell, started at its parent's mode."""
        return self.best_in_cell(cell, parent.q)
