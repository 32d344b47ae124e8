"""The mode of each cell by annealing: cooled random states, flips of whole groups, and every optimum seen."""

from __future__ import annotations

from copy import copy, deepcopy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield.constraints.cell import Cell
from mixfield.constraints.clamp import Clamp, solve_in_cell
from mixfield.constraints.solution import CellSolution
from mixfield.criteria.group_flips import flipped, transition_groups
from mixfield.criteria.leaf import Leaf
from mixfield.criteria.optima import Optima
from mixfield.energy.base import ability
from mixfield.mixture.deadline import Deadline
from mixfield.mixture.finder import ClampedFinder
from mixfield.solvers.base import MeanFieldSolver

Floats = NDArray[np.float64]

HARD_FACTOR_SWEEPS = 5  # times as many sweeps where joint states are forbidden: a state that breaks one is worthless

ROOT_STARTS = 4  # optima from which the root is solved exactly: with forbidden states the best may be lost
PART_STATES, PART_SWEEPS = 4, 50  # coolings whose best parts are combined, from T_max / 2: order is rare above it


@dataclass(frozen=True)
class Search:
    """How hard the optimum of each cell is searched for.

    Attributes
    ----------
    root, leaf : random states that are cooled to find optima of the whole field, and of each cell.
    root_sweeps, leaf_sweeps : steps of their cooling from T_max to 1.
    budget : numbers in a batch of starting points; large fields get fewer of them, and faster coolings.
    remembered : starts taken from the optima seen before, per cell.
    temperatures : steps between 1 and T_max at which phase transitions are looked for.
    polish : starts that each finished leaf takes from the optima found after it.
    rise : nats per variable by which the bound of the whole field must rise for a slower cooling to be followed by
        one that is slower again; with infinity all coolings have the same rate.
    standing : whether each new mode is also solved without its clamp, to find optima of the whole field; `Lookahead`
        needs them.
    flips, groups : optima in which groups with a common phase transition are flipped, and groups in each.
    """

    root: int = 24
    leaf: int = 1
    root_sweeps: int = 300
    leaf_sweeps: int = 100
    budget: float = 3e5
    remembered: int = 4
    temperatures: int = 8
    flips: int = 4
    groups: int = 32
    polish: int = 8
    rise: float = 1e-3
    standing: bool = True

    def affordable(self, count: int, size: int) -> int:
        """How many starting points of ``size`` numbers each, at most ``count``."""
        return min(count, max(2, int(self.budget // max(size, 1))))

    def cooling(self, sweeps: int, size: int, t_max: float) -> Floats:
        """Temperatures from T_max to 1."""
        return np.geomspace(max(t_max, 1.0), 1.0, min(sweeps, max(20, int(10 * self.budget // max(size, 1)))))


class AnnealingFinder(ClampedFinder):
    """Finds the modes of cells by annealing, and keeps every optimum on the way."""

    def __init__(
        self,
        solver: MeanFieldSolver,
        rng: np.random.Generator,
        clamp: Clamp,
        search: Search,
        t_max: float,
        deadline: Deadline | None = None,
    ) -> None:
        super().__init__(solver, rng, clamp)
        self.deadline = deadline or Deadline()
        self.search, self.t_max, self.n_temperatures = search, t_max, search.temperatures
        n, n_labels = solver.allowed.shape
        self._size = n * n_labels  # numbers of one mode
        # a field so large that the budget limits its coolings: they are good in different parts of it, and the log K
        # nats that K cells of one interpretation can add are much less than such a search leaves
        self._has_parts = solver.recombines and search.affordable(search.root, self._size) < search.root
        self.refines = not self._has_parts
        self.optima = Optima(n, n_labels, capacity=int(max(8, min(256, 2e7 // max(self._size, 1)))))

    def root(self, cell: Cell) -> CellSolution:
        """The best optimum of the whole field that many coolings find."""
        patience = HARD_FACTOR_SWEEPS if ability(self.solver.energy, "has_hard_factors", False) else 1
        count = self.search.affordable(self.search.root, self._size)
        temperatures = self.search.cooling(patience * self.search.root_sweeps, self._size, self.t_max)
        cooled = self.solver.cooled_starts(count, cell.bias, temperatures, self.rng)
        first = self.solver.first_start(self.solver.allowed, self.rng)
        self.solve_roughly(cell, np.concatenate([first[None], self.solver.good_states, cooled]))
        self._cool_until_flat(cell, count, len(temperatures))
        return self.root_from(cell, self.optima.best_for(cell, ROOT_STARTS))

    def _cool_until_flat(self, cell: Cell, count: int, sweeps: int) -> None:
        """Cool again until the best bound stops rising: twice as slowly, and half as many states.

        Of a field with many parts, the best parts of several states are combined with the best state known.
        """
        hottest, rising = self.t_max, self.search.root > 0 and self.search.rise < np.inf
        if self._has_parts:
            count, sweeps, hottest = PART_STATES, max(PART_SWEEPS, sweeps // 2), self.t_max / 2
        while rising and not self.deadline.passed:
            if not self._has_parts:
                count, sweeps = max(2, count // 2), 2 * sweeps
            temperatures = np.geomspace(max(hottest, 1.0), 1.0, sweeps)
            states = self.solver.cooled_starts(count, cell.bias, temperatures, self.rng)
            if self._has_parts:
                states = self.solver.recombined(np.concatenate([self.optima.best_for(cell, 1), states]))
            before = self.optima.log_z.max()
            self.solve_roughly(cell, states)
            rising = self.optima.log_z.max() > before + self.search.rise * len(cell.allowed)

    def improve_root(self, root: Leaf) -> CellSolution | None:
        """A better root from flips of groups in the plain mean field and in the best optima known, if there is one.

        Two groups of thousands change nothing in a field with many parts.
        """
        if self._has_parts:
            return None
        done: set[bytes] = set()
        found: CellSolution | None = None
        for _ in range(self.search.flips):
            q = None if self.deadline.passed else self._next_optimum(done)
            if q is None:
                break
            groups = transition_groups(root, q, self.search.affordable(self.search.groups, self._size))
            if groups:
                best = float(found.log_z[0]) if found else root.log_z
                better = self.best_in_cell(root.cell, flipped(root, q, groups), above=best + 1e-6)
                if better is not None and better.log_z[0] > best:
                    found = better
        return found

    def _next_optimum(self, done: set[bytes]) -> Floats | None:
        """The first optimum found, then the others by their bounds, each labeling once."""
        labelings = self.optima.q.argmax(-1)
        for k in [0, *np.argsort(-self.optima.log_z, kind="stable").tolist()]:
            labeling = labelings[k].tobytes()
            if labeling not in done:
                done.add(labeling)
                return np.asarray(self.optima.q[k])
        return None

    def solve_in_cell(self, cell: Cell, parent: CellSolution) -> CellSolution | None:
        """The best mode of a cell, from its parent, from the optima seen before and from fresh coolings."""
        temperatures = self.search.cooling(self.search.leaf_sweeps, self._size, self.t_max)
        cooled = self.solver.cooled_starts(self.search.leaf, cell.bias, temperatures, self.rng)
        known = self.optima.best_for(cell, self.search.remembered)
        best = self.best_in_cell(cell, np.concatenate([parent.q, known, cooled]))
        if best is not None and self.search.standing and not self.optima.is_standing(best.q[0]):
            free = solve_in_cell(self.rough_solver, Cell(self.solver.allowed), best.q, self.clamp)
            self.optima.add(free.q, free.log_z, standing=True)
        return best

    def polish(self, leaf: Leaf) -> CellSolution | None:
        """A better mode of a finished leaf, from the optima that were found after it."""
        if not self.search.polish:
            return None
        known = self.optima.best_for(leaf.cell, self.search.polish)
        better = self.best_in_cell(leaf.cell, known, above=leaf.log_z + 1e-6)
        return better if better is not None and better.log_z[0] > leaf.log_z else None

    def fork(self) -> AnnealingFinder:
        twin = copy(self)
        twin.optima = deepcopy(self.optima)
        return twin
