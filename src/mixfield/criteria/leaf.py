"""A leaf of the tree as a criterion sees it: its mode, the same field at higher temperatures, and trial cuts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.constraints.cardinality import Cardinality
from mixfield.constraints.cell import Cell
from mixfield.criteria.annealed import AnnealedMarginals
from mixfield.criteria.optima import Optima
from mixfield.energy.base import Energy
from mixfield.solvers import starts
from mixfield.solvers.base import MeanFieldSolver
from mixfield.solvers.tilt import Tilt

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Proposal:
    """A cut that a criterion suggests.

    Attributes
    ----------
    constraint : the "at least" side; the other child gets its opposite.
    temperature : of the phase transition of the group, NaN if it was found otherwise.
    score : log of what the cut is expected to add to Z~, NaN if not known.
    """

    constraint: Cardinality
    temperature: float = float("nan")
    score: float = float("nan")


@dataclass(eq=False)
class Leaf:
    """A cell with its mode.

    Attributes
    ----------
    solver : of the energy.
    cell : the states of this leaf.
    q : (n, L) marginals of its mode.
    log_z : its bound A_k.
    temperatures : increasing, from just above 1 to T_max.
    optima : every optimum seen so far, shared by all leaves.
    annealed : marginals at higher temperatures, shared by all leaves.
    fewest_changes : variables in which another optimum must differ from the mode to be another interpretation.
    parent : the leaf it was cut from, None for the root.
    inherited : the proposals for the parent that were not made, best first; computed when they are read.
    """

    solver: MeanFieldSolver
    cell: Cell
    q: Floats
    log_z: float
    temperatures: Floats
    optima: Optima
    annealed: AnnealedMarginals
    rng: np.random.Generator
    fewest_changes: int = 1
    parent: Leaf | None = None
    inherited: Iterable[Proposal] = ()

    @property
    def energy(self) -> Energy:
        """What is minimised."""
        return self.solver.energy

    @cached_property
    def labels(self) -> NDArray[Any]:
        """(n,) most probable labels, in few bytes."""
        return self.q.argmax(1).astype(np.min_scalar_type(self.q.shape[1]))

    @cached_property
    def free(self) -> NDArray[np.int64]:
        """Variables that may still take more than one label."""
        free, narrow = np.full(len(self.q), self.q.shape[1] > 1), self.cell.narrow
        free[narrow] = self.cell.allowed[narrow].sum(1) > 1
        return np.flatnonzero(free)

    @cached_property
    def uncut(self) -> NDArray[np.bool_]:
        """(n,) free variables in no group so far: others would be cut again, or flipped back."""
        uncut = np.zeros(len(self.q), bool)
        uncut[self.free] = True
        for constraint in self.cell.constraints:
            uncut[constraint.group] = False
        return uncut

    @cached_property
    def annealed_path(self) -> Floats:
        """(T, n, L) marginals at each of ``temperatures``, each started from the next higher one.

        Solvers that anneal independently start near the uniform point instead, see `marginals_at`.
        """
        if self.solver.anneals_independently:
            return self.marginals_at(self.temperatures.tolist())
        tilt = Tilt.shared(self.cell.bias, 1)
        path = np.empty((len(self.temperatures), *self.q.shape))
        current = starts.central(self.cell.allowed, self.rng)[None]
        for t in reversed(range(len(self.temperatures))):
            temperature = float(self.temperatures[t])
            current = self.solver.solve(current, tilt, temperature=temperature, tolerance=1e-4).q
            path[t] = current[0]
        return path

    def marginals_at(self, temperatures: Sequence[float]) -> Floats:
        """(T, n, L) marginals at some temperatures, see `AnnealedMarginals`."""
        return self.annealed.at(temperatures, self.cell)

    def try_labels(self, variables: NDArray[np.int64], labels: NDArray[np.int64]) -> Floats:
        """Bounds of the children "x_i = v" and "x_i != v" for each pair, (k, 2), by short runs from the leaf's mode."""
        yes, no = 2 * np.arange(len(variables)), 2 * np.arange(len(variables)) + 1
        bias = np.repeat(self.cell.bias[None], 2 * len(variables), 0)
        q = np.repeat(self.q[None], 2 * len(variables), 0)
        is_label = np.arange(self.q.shape[1]) == labels[:, None]
        bias[yes, variables] = np.where(is_label, bias[yes, variables], np.inf)
        bias[no, variables, labels] = np.inf
        q[yes, variables] = is_label
        others = np.where(np.isfinite(bias[no, variables]), q[no, variables] + 1e-12, 0.0)
        q[no, variables] = others / others.sum(-1, keepdims=True)
        tilt = Tilt(bias, np.arange(2 * len(variables), dtype=np.int32))
        run = self.solver.solve(q, tilt, tolerance=1e-2, max_iterations=30)
        return self.solver.bounds(run.q).reshape(-1, 2)
