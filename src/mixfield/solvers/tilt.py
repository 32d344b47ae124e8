"""Additional potentials that clamping adds to an energy (section 5.2.1 of the paper); solvers know no constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays, kernels

if TYPE_CHECKING:
    from mixfield.kernels.counts import FlatCounts

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CountPotential:
    """The cost ``weight * [at least threshold of group take their labels]``."""

    group: NDArray[np.int64]
    labels: NDArray[np.int64]
    threshold: int
    weight: float

    def derivative(self, q: Floats) -> Floats:
        """Cost of each member's label, the others following ``q`` (n, L)."""
        p = q[self.group, self.labels]
        counts, pivotal = np.empty(len(p) + 1), np.empty(len(p))
        kernels.counts.distribution(p, counts)
        kernels.counts.pivotal(p, counts, self.threshold, pivotal)
        return self.weight * pivotal

    def expected(self, q: Floats) -> float:
        """Expected cost under ``q`` (n, L)."""
        p = q[self.group, self.labels]
        counts = np.empty(len(p) + 1)
        kernels.counts.distribution(p, counts)
        return self.weight * float(counts[max(self.threshold, 0) :].sum())


@dataclass(frozen=True)
class Tilt:
    """Additional potentials of each mode of a batch.

    Attributes
    ----------
    bias : (M, n, L) costs added to the energy, ``+inf`` forbids a label.
    bias_of : (K,) which of them belongs to each mode.
    counts : for each mode its count potentials; empty if no mode has any.
    """

    bias: Floats
    bias_of: NDArray[np.int32]
    counts: tuple[tuple[CountPotential, ...], ...] = ()

    @staticmethod
    def shared(bias: Floats, n_modes: int) -> Tilt:
        """The same additional costs (n, L) for all modes."""
        return Tilt(bias[None], np.zeros(n_modes, np.int32))

    def add_to(self, field: Floats, q: Floats) -> None:
        """Add the derivative of the potentials to ``field`` (K, n, L), in place."""
        for k, b in enumerate(self.bias_of):
            field[k] += self.bias[b]
        for k, potentials in enumerate(self.counts):
            for potential in potentials:
                field[k, potential.group, potential.labels] += potential.derivative(q[k])

    def expected(self, q: Floats) -> Floats:
        """Expected additional cost of each mode of ``q`` (K, n, L)."""
        cost = np.empty(len(q))
        for k, b in enumerate(self.bias_of):
            used = q[k] > 0
            cost[k] = np.sum(q[k][used] * self.bias[b][used])
            if self.counts:
                cost[k] += sum(potential.expected(q[k]) for potential in self.counts[k])
        return cost

    def flat_counts(self) -> FlatCounts:
        """The count potentials as arrays for the kernels."""
        per_mode = self.counts or ((),) * len(self.bias_of)
        everything = [potential for potentials in per_mode for potential in potentials]
        sizes = [len(potential.group) for potential in everything]

        def joined(arrays: list[NDArray[np.int64]]) -> NDArray[np.int32]:
            return np.concatenate([np.zeros(0, np.int64), *arrays]).astype(np.int32)

        return kernels.counts.FlatCounts(
            mode_start=_arrays.starts([len(potentials) for potentials in per_mode]).astype(np.int32),
            member_start=_arrays.starts(sizes).astype(np.int32),
            member=joined([potential.group for potential in everything]),
            label=joined([potential.labels for potential in everything]),
            threshold=np.array([potential.threshold for potential in everything], np.int32),
            weight=np.array([potential.weight for potential in everything], np.float64),
        )
