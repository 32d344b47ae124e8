"""Cardinality constraints (eqs. 6 and 7 of the paper): how many of a group take a given label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.constraints import poisson_binomial
from mixfield.errors import MixfieldError

Floats = NDArray[np.float64]

JOINT = 2e7  # joint counts, times variables, up to which they are followed exactly


@dataclass(frozen=True, eq=False)
class Cardinality:
    """At least (``sign=+1``) or fewer than (``sign=-1``) ``count`` of ``group`` take their label.

    Attributes
    ----------
    group : (L,) variables, numbered in C order, each once.
    labels : (L,) the label of each of them; one number stands for all.
    count : the threshold C, 1 <= C <= L.
    sign : +1 or -1.
    """

    group: NDArray[np.int64]
    labels: NDArray[np.int64]
    count: int
    sign: int = +1

    def __post_init__(self) -> None:
        group = _arrays.integers("group", self.group, low=0, high=2**62).ravel()
        labels = _arrays.integers("labels", self.labels, low=0, high=2**31).ravel()
        labels = np.broadcast_to(labels, group.shape).copy() if labels.size == 1 else labels
        ascending = bool((group[1:] > group[:-1]).all())
        if len(group) == 0 or not (ascending or (np.diff(np.sort(group)) > 0).all()):
            raise MixfieldError(f"group must name at least one variable and none twice, got {group.tolist()[:10]}")
        _arrays.check_shape("labels", labels, group.shape, "to match group")
        if not 1 <= self.count <= len(group):
            raise MixfieldError(f"count must lie in 1..{len(group)} (the size of the group), got {self.count}")
        if self.sign not in (-1, +1):
            raise MixfieldError(f"sign must be +1 (at least) or -1 (fewer than), got {self.sign!r}")
        object.__setattr__(self, "group", _arrays.frozen(group))
        object.__setattr__(self, "labels", _arrays.frozen(labels))
        object.__setattr__(self, "count", int(self.count))

    @cached_property
    def identity(self) -> tuple[bytes, bytes, int, int]:
        """The same for equal constraints."""
        return self.group.tobytes(), self.labels.tobytes(), self.count, self.sign

    @cached_property
    def alone(self) -> Cardinality:
        """The same for the probabilities of its members to have their label, (len(group), 1)."""
        return replace(self, group=np.arange(len(self.group)), labels=np.zeros_like(self.labels))

    def opposite(self) -> Cardinality:
        """The other side of the cut."""
        return replace(self, sign=-self.sign)

    def holds(self, x: ArrayLike) -> NDArray[np.bool_]:
        """Whether labelings (..., n) satisfy it."""
        count = (np.asarray(x)[..., self.group] == self.labels).sum(-1)
        return np.asarray(count >= self.count if self.sign > 0 else count < self.count)

    def probability(self, q: Floats) -> float:
        """Exact probability that it holds under the product distribution ``q`` (n, L)."""
        return poisson_binomial.side(q, self.group, self.labels, self.count, above=self.sign > 0)

    def __repr__(self) -> str:
        return f"Cardinality({self})"

    def __str__(self) -> str:
        relation = "at least" if self.sign > 0 else "fewer than"
        shown = ", ".join(f"{i}={v}" for i, v in zip(self.group[:4].tolist(), self.labels[:4].tolist(), strict=True))
        more = f", ... ({len(self.group)} variables)" if len(self.group) > 4 else ""
        return f"{relation} {self.count} of {{{shown}{more}}}"


def mass_inside(q: Floats, constraints: Sequence[Cardinality]) -> float:
    """Exact probability under ``q`` (n, L) that all constraints hold.

    Constraints that share no variable are independent.  Those that do are counted jointly, variable by variable; when
    that would take too long, the union bound (never above the truth) stands in.
    """
    mass = 1.0
    for family in _families(constraints, len(q)):
        if len(family) == 1:
            mass *= family[0].probability(q)
        elif np.prod([float(c.count + 1) for c in family]) * sum(len(c.group) for c in family) <= JOINT:
            mass *= _joint(q, family)
        else:
            mass *= max(0.0, 1.0 - sum(1.0 - c.probability(q) for c in family))
    return mass


def _families(constraints: Sequence[Cardinality], n: int) -> list[list[Cardinality]]:
    """Constraints linked by common variables, of ``n``."""
    families: dict[int, list[Cardinality]] = {}
    family = np.arange(len(constraints))  # of each constraint: the last that it is linked with
    last = np.full(n, -1)  # constraint on each variable
    for k, constraint in enumerate(constraints):
        seen = np.zeros(len(constraints) + 1, bool)
        seen[last[constraint.group]] = True
        linked = sorted(set(family[:k][seen[:k]].tolist()))
        family[np.isin(family, linked) if linked else k] = k
        last[constraint.group] = k
        families[k] = [c for f in linked for c in families.pop(f)] + [constraint]
    return list(families.values())


def _joint(q: Floats, family: Sequence[Cardinality]) -> float:
    """Probability that all of a family hold: the joint law of their counts, each capped at its threshold."""
    law = np.zeros([c.count + 1 for c in family])
    law[(0,) * len(family)] = 1.0
    members = [dict(zip(c.group.tolist(), c.labels.tolist(), strict=True)) for c in family]
    for i in sorted(set().union(*members)):
        moved = np.zeros_like(law)
        raised = {
            label: [a for a, m in enumerate(members) if m.get(i) == label]
            for label in {m[i] for m in members if i in m}
        }
        for label, axes in raised.items():
            moved += q[i, label] * _raise(law, axes)
        law = moved + max(0.0, 1.0 - sum(q[i, label] for label in raised)) * law
    for axis, constraint in enumerate(family):
        below = np.arange(law.shape[axis]) < constraint.count
        keep = ~below if constraint.sign > 0 else below
        law = law * keep.reshape([-1 if a == axis else 1 for a in range(law.ndim)])
    return float(min(law.sum(), 1.0))


def _raise(law: Floats, axes: Sequence[int]) -> Floats:
    """The law after the counts on ``axes`` go up by one, the last value standing for all above it."""
    for axis in axes:
        shifted = np.zeros_like(law)
        here, there = np.moveaxis(law, axis, 0), np.moveaxis(shifted, axis, 0)
        there[1:] = here[:-1]
        there[-1] += here[-1]
        law = shifted
    return law
