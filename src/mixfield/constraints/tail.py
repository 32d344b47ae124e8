"""The tail of a count: exact, or in the Gaussian form of the paper's appendix.

Both give the probability that a constraint fails, and a potential that lowers it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mixfield import kernels
from mixfield.constraints import poisson_binomial
from mixfield.constraints.cardinality import Cardinality
from mixfield.solvers.tilt import CountPotential

Floats = NDArray[np.float64]


class Tail(Protocol):
    """How a soft constraint is judged and enforced."""

    def outside(self, constraint: Cardinality, q: Floats) -> float:
        """Probability under ``q`` (n, L) that the constraint fails."""

    def potential(self, constraint: Cardinality, multiplier: float, bias: Floats) -> CountPotential | None:
        """A potential that pushes towards the constraint; unary potentials are added to ``bias`` (n, L) instead."""


@dataclass(frozen=True)
class ExactTail:
    """The Poisson-binomial tail and its gradient.

    The potential is ``multiplier * [the constraint fails]``; its derivative for one member is the probability that
    this member decides.  At C = 1 and C = L these are the pattern potentials of the paper.
    """

    def outside(self, constraint: Cardinality, q: Floats) -> float:
        group, labels = constraint.group, constraint.labels
        return poisson_binomial.side(q, group, labels, constraint.count, above=constraint.sign < 0)

    def potential(self, constraint: Cardinality, multiplier: float, bias: Floats) -> CountPotential | None:  # noqa: ARG002
        weight = -constraint.sign * multiplier
        return CountPotential(constraint.group, constraint.labels, constraint.count, weight)


@dataclass(frozen=True)
class GaussianTail:
    """The count as a Gaussian: its mean must lie ``z`` standard deviations on the right side of C.

    "At least C" asks for ``mean >= C + sigma z`` and "fewer than C" for ``mean <= C - sigma z`` with
    ``z = F^-1(1 - eps)`` (the appendix prints the first with the wrong sense).  The potential is unary.
    """

    def outside(self, constraint: Cardinality, q: Floats) -> float:
        certain, _, mean, variance = kernels.counts.moments(q, constraint.group, constraint.labels)
        surplus = constraint.sign * (certain + mean - constraint.count)
        if variance == 0.0:
            return 0.0 if surplus > 0 or (surplus == 0 and constraint.sign > 0) else 1.0
        return 0.5 * math.erfc(surplus / math.sqrt(2.0 * variance))

    def potential(self, constraint: Cardinality, multiplier: float, bias: Floats) -> CountPotential | None:
        bias[constraint.group, constraint.labels] -= constraint.sign * multiplier
        return None


@dataclass(frozen=True)
class AutoTail:
    """Exact for groups of up to ``largest`` variables, Gaussian above."""

    largest: int = 512

    def outside(self, constraint: Cardinality, q: Floats) -> float:
        return self._choice(constraint).outside(constraint, q)

    def potential(self, constraint: Cardinality, multiplier: float, bias: Floats) -> CountPotential | None:
        return self._choice(constraint).potential(constraint, multiplier, bias)

    def _choice(self, constraint: Cardinality) -> Tail:
        return ExactTail() if len(constraint.group) <= self.largest else GaussianTail()
