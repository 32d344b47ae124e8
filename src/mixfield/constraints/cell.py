"""The states of one leaf: the labels still allowed, and the counts that must hold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mixfield import kernels
from mixfield.constraints.cardinality import Cardinality, mass_inside
from mixfield.errors import InfeasibleError

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cell:
    """A set of states cut out by cardinality constraints.

    A constraint that leaves no choice ("all of them", "none of them", or what remains of it after earlier cuts) is
    turned into forbidden labels: a strict clamp, under which a mode cannot leave its cell.  Only the others stay
    ``soft`` and need a multiplier.

    Attributes
    ----------
    allowed : (n, L) labels still allowed.
    constraints : every constraint on the path from the root.
    soft : those that forbidden labels do not already enforce.
    """

    allowed: NDArray[np.bool_]
    constraints: tuple[Cardinality, ...] = ()
    soft: tuple[Cardinality, ...] = ()

    def cut(self, constraint: Cardinality) -> Cell:
        """The part of the cell where ``constraint`` holds too; `InfeasibleError` if there is none."""
        allowed = self.allowed.copy()
        pending = [*self.soft, constraint]
        changed = _propagate(constraint, allowed)
        while changed:
            changed = False
            for c in list(pending):
                if _propagate(c, allowed):
                    pending.remove(c)
                    changed = True
        return Cell(allowed, (*self.constraints, constraint), tuple(pending))

    @cached_property
    def bias(self) -> Floats:
        """(n, L) costs: 0 for allowed labels, +inf for the others."""
        return np.where(self.allowed, 0.0, np.inf)

    @cached_property
    def narrow(self) -> NDArray[np.intp]:
        """Variables that lack a label."""
        if self.allowed.all():  # fast, and the usual case of soft cuts
            return np.empty(0, np.intp)
        return np.flatnonzero(~self.allowed.all(1))

    @cached_property
    def last_soft(self) -> Cardinality | None:
        """The constraint that was added last, unless forbidden labels enforce it already."""
        last = self.constraints[-1].identity if self.constraints else None
        return next((c for c in self.soft if c.identity == last), None)

    @cached_property
    def is_strict(self) -> bool:
        """Whether no state outside the cell can have any probability."""
        return not self.soft

    def project(self, q: Floats) -> Floats:
        """Marginals (K, n, L) without the labels that are not allowed."""
        allowed = self.allowed[self.narrow]
        inside = np.where(allowed, q[:, self.narrow], 0.0)
        total = inside.sum(-1, keepdims=True)
        uniform = allowed / allowed.sum(-1, keepdims=True)
        projected = q.copy()
        projected[:, self.narrow] = np.where(total > 1e-12, inside / np.maximum(total, 1e-12), uniform)
        return projected

    def log_mass(self, q: Floats) -> Floats:
        """(K,) log-probability of the allowed labels under each mode of ``q`` (K, n, L)."""
        inside = np.where(self.allowed[self.narrow], q[:, self.narrow], 0.0).sum(-1)
        return np.log(np.maximum(inside, 1e-300)).sum(-1)

    def mass(self, q: Floats) -> float:
        """Exact probability under ``q`` (n, L) that every constraint on the path holds."""
        return mass_inside(q, self.constraints)


def _propagate(constraint: Cardinality, allowed: NDArray[np.bool_]) -> bool:
    """Forbid labels that ``constraint`` rules out; True when nothing of it is left to enforce."""
    decided, undecided = kernels.counts.choices(allowed, constraint.group, constraint.labels)
    needed = constraint.count - decided
    if (needed > undecided) if constraint.sign > 0 else (needed <= 0):
        raise InfeasibleError(f"the cuts before it leave no state with {constraint}")
    if (needed <= 0) if constraint.sign > 0 else (needed > undecided):
        return True
    if needed != (undecided if constraint.sign > 0 else 1):
        return False
    group, labels = constraint.group, constraint.labels
    free = allowed[group, labels] & (allowed[group].sum(1) > 1)
    if constraint.sign > 0:
        allowed[group[free]] = False
    allowed[group[free], labels[free]] = constraint.sign > 0
    return True
