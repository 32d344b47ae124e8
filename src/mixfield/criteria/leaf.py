"""A leaf of the tree as a criterion sees it: its mode, how it melts, and what a cut would bring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mixfield.constraints.cardinality import Cardinality
from mixfield.constraints.cell import Cell
from mixfield.criteria.optima import Optima
from mixfield.energy.base import Energy
from mixfield.energy.dense_crf import DenseCRF
from mixfield.solvers import starts
from mixfield.solvers.free_energy import bounds
from mixfield.solvers.mean_field import Solver
from mixfield.solvers.tilt import Tilt

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Proposal:
    """A cut that a criterion suggests.

    Attributes
    ----------
    constraint : the "at least" side; the other child gets its opposite.
    temperature : at which the group was found to melt, if that is how it was found.
    score : log of what the cut is expected to add to Z~, or NaN if nobody looked.
    """

    constraint: Cardinality
    temperature: float = float("nan")
    score: float = float("nan")


@dataclass(eq=False)
class Leaf:
    """A cell with its mode.

    Attributes
    ----------
    energy, solver : what is minimised, and how.
    cell : the states of this leaf.
    q : (n, L) marginals of its mode.
    log_z : its bound A_k.
    temperatures : increasing, from just above 1 to T_max.
    optima : every optimum seen so far, shared by all leaves.
    """

    energy: Energy
    solver: Solver
    cell: Cell
    q: Floats
    log_z: float
    temperatures: Floats
    optima: Optima
    rng: np.random.Generator
    _heated: Floats | None = field(default=None, repr=False)

    @cached_property
    def free(self) -> NDArray[np.int64]:
        """Variables that may still take more than one label."""
        return np.flatnonzero(self.cell.allowed.sum(1) > 1)

    @cached_property
    def uncut(self) -> NDArray[np.bool_]:
        """(n,) free variables in no group so far: one that was cut would be cut again, or turned back."""
        uncut = np.zeros(len(self.q), bool)
        uncut[self.free] = True
        for constraint in self.cell.constraints:
            uncut[constraint.group] = False
        return uncut

    def heated(self) -> Floats:
        """(T, n, L) marginals at each of ``temperatures``, each started from the next higher one.

        Dense fields, which would creep for hundreds of updates near T_max, are `melted` instead.
        """
        if isinstance(self.energy, DenseCRF):
            return self.melted(self.temperatures.tolist())
        if self._heated is None:
            tilt = Tilt.shared(self.cell.bias, 1)
            path = np.empty((len(self.temperatures), *self.q.shape))
            current = starts.central(self.cell.allowed, self.rng)[None]
            for t in reversed(range(len(self.temperatures))):
                heat = float(self.temperatures[t])
                current = self.solver.ascend(self.energy, current, tilt, temperature=heat, tolerance=1e-4).q
                path[t] = current[0]
            self._heated = path
        return self._heated

    def melted(self, temperatures: Sequence[float]) -> Floats:
        """(T, n, L) marginals at some temperatures, each started near the uniform point, roughly converged.

        What the cuts forbid is forbidden there too; multipliers are not applied, so that leaves that forbid the same
        share the answer.
        """
        known, here = self.optima.melted, self.cell.allowed.tobytes()
        heat = np.array([t for t in temperatures if (float(t), here) not in known], np.float64)
        if len(heat):
            start = np.repeat(starts.central(self.cell.allowed, self.rng)[None], len(heat), 0)
            tilt = Tilt.shared(self.cell.bias, len(heat))
            run = self.solver.ascend(self.energy, start, tilt, temperature=heat, tolerance=1e-2, max_iterations=20)
            known.update(zip([(float(t), here) for t in heat], run.q, strict=True))
        return np.stack([known[float(t), here] for t in temperatures])

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
        run = self.solver.ascend(self.energy, q, tilt, tolerance=1e-2, max_iterations=30)
        return bounds(self.energy, run.q).reshape(-1, 2)
