"""Where to cut a dense field: windows in which many certain pixels have a common phase transition (section 7.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads
from mixfield.criteria.leaf import Leaf, Proposal
from mixfield.criteria.phase_transition import BITS, HIGH, LOW, dominant_groups
from mixfield.criteria.regions import cut, temperatures, window_sides
from mixfield.solvers.free_energy import entropies


@dataclass(frozen=True)
class MeltingWindows:
    """Groups of pixels of one label with a common phase transition, in windows of several sizes.

    Attributes
    ----------
    shares : sides of the windows, as shares of the longer side of the field.
    heats : temperatures, as shares of Gamma = 2 T_max.
    low, high : entropy thresholds in bits: certain at T = 1, uncertain at T.
    smallest : share of the field that a group must have.
    tries : cuts proposed for each leaf.
    """

    shares: tuple[float, ...] = (0.6, 0.3)
    heats: tuple[float, ...] = (1 / 3, 1 / 2)
    low: float = LOW
    high: float = HIGH
    smallest: float = 5e-4
    tries: int = 8

    def propose(self, leaf: Leaf) -> Iterator[Proposal]:
        """Cuts, the largest groups first."""
        shape = leaf.energy.shape
        now = entropies(leaf.q) * BITS
        labels, free = leaf.labels, leaf.uncut
        heats, sides = temperatures(leaf.solver, self.heats), window_sides(shape, self.shares)
        then = leaf.annealed.entropies(heats, leaf.cell) * BITS

        def groups(k: int) -> list[NDArray[np.int64]]:
            candidates = free & (now < self.low) & (then[k] > self.high)
            found = (dominant_groups(candidates, labels, shape, side, self.tries, self.smallest) for side in sides)
            return list(chain.from_iterable(found))

        each = _threads.each(groups, len(heats), leaf.solver.options.threads, updates=then.size)
        found = [(heat, group) for heat, some in zip(heats, each, strict=True) for group in some]
        yield from islice(_largest(found, labels), self.tries)


def _largest(found: list[tuple[float, NDArray[np.int64]]], labels: NDArray[np.integer]) -> Iterator[Proposal]:
    """Cuts of groups found at some temperatures, the largest first, without those of which half is cut already."""
    taken = np.zeros(len(labels), bool)
    for heat, group in sorted(found, key=lambda one: -len(one[1])):
        if taken[group].mean() < 0.5:
            taken[group] = True
            yield Proposal(cut(group, int(labels[group[0]])), heat)
