"""Where to cut: the paper's phase-transition criterion with its pickers.

A picker is any object with ``pick(candidates, gap, leaf)``, which turns candidate variables into groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mixfield import kernels
from mixfield.constraints.cardinality import Cardinality
from mixfield.criteria.leaf import Leaf, Proposal
from mixfield.energy.base import Energy, ability
from mixfield.errors import MixfieldError
from mixfield.solvers.free_energy import entropies

Floats = NDArray[np.float64]
Int64s = NDArray[np.int64]

BITS = 1.0 / np.log(2.0)
LOW, HIGH = 0.3, 0.7  # the paper's entropy thresholds, in bits


def check_thresholds(low: float, high: float) -> None:
    """Raise a `MixfieldError` unless a variable can be certain below ``low`` and uncertain above ``high`` bits."""
    if not 0 < low < high:
        raise MixfieldError(f"low and high must satisfy 0 < low < high (bits), got {low} and {high}")


class Picker(Protocol):
    """Which of the candidates to clamp together."""

    def pick(self, candidates: Int64s, gap: Floats, leaf: Leaf, /) -> Iterator[tuple[Int64s, int]]:
        """Groups of variables and the count C of the constraint on them, in order of preference.

        ``gap`` (n,) is the rise of each variable's entropy from T = 1 to the temperature of the transition.
        """


@dataclass(frozen=True)
class PhaseTransition:
    """The paper's criterion (eq. 15): variables that are certain at T = 1 and uncertain at the lowest possible T.

    Temperatures rise until some variable qualifies; the picker then chooses among those that do.  The label of each
    variable is the one its mode prefers.

    Attributes
    ----------
    pick : which candidates form the group.
    low, high : entropy thresholds in bits (the paper's text says 0.3 and 0.7, its pseudo-code 0.3 and 0.6).
    """

    pick: Picker = field(default_factory=lambda: EntropyGap())
    low: float = LOW
    high: float = HIGH

    def __post_init__(self) -> None:
        check_thresholds(self.low, self.high)

    def propose(self, leaf: Leaf) -> Iterator[Proposal]:
        now = entropies(leaf.q) * BITS
        for temperature, q in zip(leaf.temperatures, leaf.annealed_path, strict=True):
            then = entropies(q) * BITS
            candidates = leaf.free[((then > self.high) & (now < self.low))[leaf.free]]
            if len(candidates):
                for group, count in self.pick.pick(candidates, then - now, leaf):
                    yield Proposal(Cardinality(group, leaf.labels[group], count), float(temperature))


@dataclass(frozen=True)
class RandomGroup:
    """OURS-RANDOM: ``size`` candidates at random, all of which must keep their label (C = L)."""

    size: int = 3
    tries: int = 4

    def pick(self, candidates: Int64s, gap: Floats, leaf: Leaf) -> Iterator[tuple[Int64s, int]]:  # noqa: ARG002
        for _ in range(self.tries):
            group = np.sort(leaf.rng.permutation(candidates)[: self.size])
            yield group, len(group)


@dataclass(frozen=True)
class MaxW:
    """OURS-MAXW: the ``size`` candidates with the largest sum of couplings, all of which must keep their label.

    The only picker that looks inside the model: the energy must offer ``coupling_strength`` (n,).
    """

    size: int = 3
    tries: int = 4

    def pick(self, candidates: Int64s, gap: Floats, leaf: Leaf) -> Iterator[tuple[Int64s, int]]:  # noqa: ARG002
        strength = coupling_strength(leaf.energy)
        ranked = candidates[np.argsort(-strength[candidates], kind="stable")]
        for first in range(0, min(self.tries, len(ranked))):
            group = np.sort(ranked[first : first + self.size])
            yield group, len(group)


@dataclass(frozen=True)
class EntropyGap:
    """The candidate whose entropy rises most, with its neighbours on the grid within ``radius`` (0: alone), C = 1.

    One side has the label nowhere in the neighbourhood, the other at least once (people detection, section 7.2).
    """

    radius: int = 0
    tries: int = 4

    def pick(self, candidates: Int64s, gap: Floats, leaf: Leaf) -> Iterator[tuple[Int64s, int]]:
        free = leaf.cell.allowed.sum(1) > 1
        for centre in candidates[np.argsort(-gap[candidates], kind="stable")][: self.tries]:
            around = box(int(centre), self.radius, leaf.energy.shape)
            yield around[free[around]], 1


@dataclass(frozen=True)
class DensestWindow:
    """The window of ``size`` cells a side that holds most candidates; half of those inside must keep their label.

    The rule for segmentation (section 7.3): C = L / 2 with L the candidates of the window's dominant label.
    """

    size: int = 5
    tries: int = 4

    def pick(self, candidates: Int64s, gap: Floats, leaf: Leaf) -> Iterator[tuple[Int64s, int]]:  # noqa: ARG002
        marked = np.zeros(len(leaf.q), bool)
        marked[candidates] = True
        for group in dominant_groups(marked, leaf.labels, leaf.energy.shape, self.size, self.tries):
            yield group, max(1, len(group) // 2)


def dominant_groups(
    marked: NDArray[np.bool_], labels: Int64s, shape: tuple[int, ...], side: int, tries: int, smallest: float = 0.0
) -> Iterator[Int64s]:
    """In the windows that hold most of the marked (n,) that are left: those of the dominant label, which are taken.

    ``smallest`` is the share of all variables that must be marked in a window.
    """
    left = marked.copy()
    for _ in range(tries):
        window = densest(left.reshape(shape), side)
        inside = window[left[window]]
        if len(inside) < max(1.0, smallest * len(labels)):
            return
        group = inside[labels[inside] == np.bincount(labels[inside]).argmax()]
        left[group] = False
        yield group


def coupling_strength(energy: Energy) -> Floats:
    """(n,) sum of the couplings |W| of each variable, from energies that offer it."""
    strength = ability(energy, "coupling_strength")
    if strength is None:
        raise MixfieldError(f"MaxW needs energy.coupling_strength, {type(energy).__name__} does not provide it")
    return np.asarray(strength)


def box(centre: int, radius: int, shape: tuple[int, ...]) -> Int64s:
    """Variables within ``radius`` of ``centre`` along every axis of the grid."""
    place = [int(x) for x in np.unravel_index(centre, shape)]
    ranges = [np.arange(max(0, x - radius), min(size, x + radius + 1)) for x, size in zip(place, shape, strict=True)]
    return np.ravel_multi_index(np.meshgrid(*ranges, indexing="ij"), shape).ravel()


def densest(marked: NDArray[np.bool_], size: int) -> Int64s:
    """Variables of the window with most marks."""
    return densest_sum(marked.astype(np.int32), size)


def densest_sum(values: NDArray[Any], size: int) -> Int64s:
    """Variables of the window with the largest sum, by an integral image along every axis."""
    totals, window = values, []
    for axis, length in enumerate(values.shape):
        width = min(size, length)
        sums = totals.swapaxes(0, axis).copy()
        kernels.windows.accumulate(sums.reshape(length, -1))
        totals = sums[width - 1 :].copy()
        totals[1:] -= sums[: length - width]
        totals = totals.swapaxes(0, axis)
    for corner, length in zip(np.unravel_index(int(totals.argmax()), totals.shape), values.shape, strict=True):
        window.append(slice(int(corner), int(corner) + min(size, length)))
    return np.arange(values.size).reshape(values.shape)[tuple(window)].ravel()
