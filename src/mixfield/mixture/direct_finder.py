"""The mode of each cell from that of its parent, without a search: plain mean field in every leaf."""

from __future__ import annotations

import numpy as np

from mixfield.constraints.cell import Cell
from mixfield.constraints.clamp import Clamp, solve_in_cell
from mixfield.constraints.solution import CellSolution
from mixfield.mixture.finder import ClampedFinder
from mixfield.solvers.base import Floats, MeanFieldSolver


class DirectFinder(ClampedFinder):
    """One run per cell, started at its parent's mode."""

    def __init__(
        self, solver: MeanFieldSolver, rng: np.random.Generator, clamp: Clamp, *, n_temperatures: int = 8
    ) -> None:
        super().__init__(solver, rng, clamp)
        self.n_temperatures = n_temperatures

    def root(self, cell: Cell) -> CellSolution:
        """The mean field from the solver's own start."""
        start = self.solver.first_start(self.solver.allowed, self.rng)[None]
        return self._mode(cell, start) or solve_in_cell(self.solver, cell, start, self.clamp)

    def solve_in_cell(self, cell: Cell, parent: CellSolution) -> CellSolution | None:
        """The mode of a cell, started at its parent's mode."""
        return self._mode(cell, parent.q)

    def _mode(self, cell: Cell, start: Floats) -> CellSolution | None:
        """The mode reached from ``start`` (1, n, L), None if it leaves the cell."""
        found = solve_in_cell(self.solver, cell, start, self.clamp)
        self.optima.add(found.q, found.log_z, standing=not cell.constraints)
        return found if self.lives_in(cell, found) else None
