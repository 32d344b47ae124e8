"""The mode of each cell by annealing: cooled random states, groups that melt together, and every optimum seen."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from mixfield.constraints.cell import Cell
from mixfield.constraints.clamp import Clamp, Settled, settle
from mixfield.criteria.group_flips import melted_groups, turned_over
from mixfield.criteria.leaf import Leaf, Proposal
from mixfield.criteria.optima import Optima
from mixfield.energy.base import Energy
from mixfield.solvers import starts
from mixfield.solvers.mean_field import Solver

Floats = NDArray[np.float64]


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
    standing : whether each new mode is also let go, to learn which optima stand on their own (`Lookahead` asks).
    melts, groups : optima in which groups that melt together are turned over, and groups in each.
    """

    root: int = 24
    leaf: int = 1
    root_sweeps: int = 300
    leaf_sweeps: int = 100
    budget: float = 3e5
    remembered: int = 4
    temperatures: int = 8
    melts: int = 4
    groups: int = 32
    polish: int = 8
    standing: bool = True

    def affordable(self, count: int, size: int) -> int:
        """How many starting points of ``size`` numbers each, at most ``count``."""
        return min(count, max(2, int(self.budget // max(size, 1))))

    def cooling(self, sweeps: int, size: int, t_max: float) -> Floats:
        """Temperatures from T_max to 1."""
        return np.geomspace(max(t_max, 1.0), 1.0, min(sweeps, max(20, int(10 * self.budget // max(size, 1)))))


@dataclass(eq=False)
class Annealing:
    """Finds the modes of cells, and remembers every optimum on the way."""

    energy: Energy
    allowed: NDArray[np.bool_]
    rng: np.random.Generator
    clamp: Clamp
    search: Search
    solver: Solver
    t_max: float
    optima: Optima = field(init=False)
    rough: Solver = field(init=False)

    def __post_init__(self) -> None:
        n, n_labels = self.allowed.shape
        self.rough = replace(self.solver, tolerance=max(self.solver.tolerance_for(self.energy), 1e-3))
        self.optima = Optima(n, n_labels, capacity=int(max(8, min(256, 2e7 // max(n * n_labels, 1)))))

    @property
    def temperatures(self) -> int:
        """Steps between 1 and T_max at which phase transitions are looked for."""
        return self.search.temperatures

    def root(self, cell: Cell) -> Settled:
        """The best optimum of the whole field that many coolings find."""
        # hard constraints need slower cooling: a state that breaks them is worth nothing
        origin, best = self._cooled(cell, 5 if getattr(self.energy, "has_hard_factors", False) else 1)
        if best is None:  # nothing feasible was found: the result says so with log_z = -inf
            best = settle(self.energy, cell, origin[:1], solver=self.solver, clamp=self.clamp)
        return best

    def _cooled(self, cell: Cell, patience: int) -> tuple[Floats, Settled | None]:
        """Starting points for the root, and the best mode reached from them."""
        sweeps = patience * self.search.root_sweeps
        count = self.search.affordable(self.search.root, self.allowed.size)
        heat = self.search.cooling(sweeps, self.allowed.size, self.t_max)
        cooled = self.solver.explore(self.energy, count, cell.bias, heat, self.rng)
        origin = np.concatenate([starts.first(self.energy, self.allowed, self.rng)[None], cooled])
        return origin, self._best(cell, origin)

    def warm_up(self, root: Leaf) -> Settled | None:
        """A better root, if any: turn over what melts together in the plain mean field and in the best optima known."""
        done: set[bytes] = set()
        found: Settled | None = None
        for _ in range(self.search.melts):
            ranked = [0, *np.argsort(-self.optima.log_z, kind="stable").tolist()]
            labelings = self.optima.q.argmax(-1)
            at = next((k for k in ranked if labelings[k].tobytes() not in done), None)
            if at is None:
                break
            done.add(labelings[at].tobytes())
            q = self.optima.q[at]
            groups = melted_groups(root, q, self.search.affordable(self.search.groups, self.allowed.size))
            if groups:
                best = float(found.log_z[0]) if found else root.log_z
                better = self._best(root.cell, turned_over(root, q, groups, self.solver), above=best + 1e-6)
                if better is not None and better.log_z[0] > best:
                    found = better
        return found

    def foresee(self, leaf: Leaf, parent: Settled, proposals: Iterable[Proposal]) -> None:
        """Each cell is searched when its turn comes."""

    def settle(self, cell: Cell, parent: Settled) -> Settled | None:
        """The best mode of a cell, from its parent, from the optima seen before and from fresh coolings."""
        heat = self.search.cooling(self.search.leaf_sweeps, self.allowed.size, self.t_max)
        cooled = self.solver.explore(self.energy, self.search.leaf, cell.bias, heat, self.rng)
        best = self._best(cell, np.concatenate([parent.q, self.optima.best_for(cell, self.search.remembered), cooled]))
        if best is not None and self.search.standing and not self.optima.is_standing(best.q[0]):
            free = settle(self.energy, Cell(self.allowed), best.q, solver=self.rough, clamp=self.clamp)
            self.optima.add(free.q, free.log_z, standing=True)
        return best

    def fork(self) -> Annealing:
        """One that knows the same optima and keeps to itself what it finds."""
        twin = copy(self)
        twin.optima = self.optima.copy()
        return twin

    def polish(self, leaf: Leaf) -> Settled | None:
        """A better mode of a finished leaf, from the optima that were found after it, if there is one."""
        if not self.search.polish:
            return None
        known = self.optima.best_for(leaf.cell, self.search.polish)
        better = self._best(leaf.cell, known, above=leaf.log_z + 1e-6)
        return better if better is not None and better.log_z[0] > leaf.log_z else None

    def _best(self, cell: Cell, origin: Floats, *, above: float = -np.inf) -> Settled | None:
        """The best of the modes reached from ``origin`` (K, n, L) that keep their mass in the cell, if any is better
        than ``above``."""
        rough = settle(self.energy, cell, origin, solver=self.rough, clamp=self.clamp)
        self.optima.add(rough.q, rough.log_z, standing=not cell.constraints)
        enough = 1.0 - self.clamp.epsilon * len(cell.constraints)
        for k in np.argsort(-rough.log_z, kind="stable"):
            if rough.log_z[k] <= above:
                return None
            fine = settle(self.energy, cell, rough.q[k : k + 1], solver=self.solver, clamp=self.clamp)
            if len(fine.log_z) and fine.log_z[0] > -np.inf and cell.mass(fine.q[0]) >= enough:
                return fine
        return None
