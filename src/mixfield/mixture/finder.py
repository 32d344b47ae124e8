"""What the tree asks of a mode finder: the mode of each of its cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

import numpy as np

from mixfield.constraints.cell import Cell
from mixfield.constraints.clamp import Clamp, solve_in_cell
from mixfield.constraints.solution import CellSolution
from mixfield.criteria.leaf import Leaf, Proposal
from mixfield.criteria.optima import Optima
from mixfield.solvers.base import Floats, MeanFieldSolver

Coming = tuple[Leaf, CellSolution, Iterable[Proposal]]  # the arguments of a later `prefetch`


class ModeFinder(ABC):
    """Finds the mode of a cell.  Only `root` and `solve_in_cell` must be answered.

    Attributes
    ----------
    n_temperatures : steps between 1 and T_max at which phase transitions are looked for.
    solver : of the energy.
    optima : every optimum seen so far; empty where none are kept.
    refines : whether cuts that separate no interpretations are worth their time.
    draws : whether it draws random numbers.
    """

    n_temperatures: int = 8
    refines: bool = True
    draws: bool = True

    def __init__(self, solver: MeanFieldSolver) -> None:
        self.solver = solver
        self.optima = Optima(*solver.allowed.shape)

    @abstractmethod
    def root(self, cell: Cell) -> CellSolution:
        """The mode of the whole field."""

    @abstractmethod
    def solve_in_cell(self, cell: Cell, parent: CellSolution) -> CellSolution | None:
        """The mode of a cell, given that of the cell it was cut from; None if none lives there."""

    def improve_root(self, root: Leaf) -> CellSolution | None:  # noqa: ARG002
        """A better mode of the whole field, before it is cut."""
        return None

    def prefetch(self, leaf: Leaf, parent: CellSolution, proposals: Iterable[Proposal]) -> None:  # noqa: B027
        """A leaf is about to be cut, by the first of these proposals now, perhaps by others later."""

    def expect(self, wanted: int, coming: Iterable[Coming]) -> None:  # noqa: B027
        """So many cuts are wanted; after the next `prefetch` these are likely to be asked for, the likeliest first."""

    def polish(self, leaf: Leaf) -> CellSolution | None:  # noqa: ARG002
        """A better mode of a finished leaf."""
        return None

    def fork(self) -> ModeFinder:
        """A finder with the same knowledge, whose polishing does not change this one."""
        return self


class ClampedFinder(ModeFinder):
    """Finds the modes of cells with a `Clamp`, first roughly from several starts, then the best of them exactly."""

    rough_tolerance: ClassVar[float] = 1e-3

    def __init__(self, solver: MeanFieldSolver, rng: np.random.Generator, clamp: Clamp) -> None:
        super().__init__(solver)
        self.rng, self.clamp = rng, clamp
        self.rough_solver = solver.with_tolerance(max(solver.tolerance, self.rough_tolerance))

    def solve_roughly(self, cell: Cell, starts: Floats) -> CellSolution:
        """The optima in a cell near ``starts`` (K, n, L); all are kept."""
        rough = solve_in_cell(self.rough_solver, cell, starts, self.clamp)
        self.optima.add(rough.q, rough.log_z, standing=not cell.constraints)
        return rough

    def best_in_cell(self, cell: Cell, starts: Floats, *, above: float = -np.inf) -> CellSolution | None:
        """The best mode reached from ``starts`` (K, n, L) that keeps its mass in the cell, if better than ``above``."""
        rough = self.solve_roughly(cell, starts)
        for k in np.argsort(-rough.log_z, kind="stable"):
            if rough.log_z[k] <= above:
                return None
            exact = solve_in_cell(self.solver, cell, rough.q[k : k + 1], self.clamp)
            if self.lives_in(cell, exact):
                return exact
        return None

    def lives_in(self, cell: Cell, solution: CellSolution) -> bool:
        """Whether a solution (of one start) keeps its mass in the cell."""
        enough, exists = 1.0 - self.clamp.epsilon * len(cell.constraints), (solution.log_z[:1] > -np.inf).any()
        return bool(exists and (cell.is_strict or cell.mass(solution.q[0]) >= enough))

    def root_from(self, cell: Cell, starts: Floats) -> CellSolution:
        """The best mode from ``starts``; where nothing feasible is found, the first with log_z = -inf."""
        best = self.best_in_cell(cell, starts)
        return solve_in_cell(self.solver, cell, starts[:1], self.clamp) if best is None else best
