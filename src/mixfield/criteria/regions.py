"""Where to cut an image: whole regions that the evidence would give to another label than the mode does.

Two kinds of cut complement each other.  REMOVE is the paper's: "fewer than half of these keep their label".  ADD is
"at least half of these take that label", one that the mode has suppressed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, product

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads
from mixfield.constraints.cardinality import Cardinality
from mixfield.criteria.leaf import Leaf, Proposal
from mixfield.criteria.phase_transition import densest_sum
from mixfield.energy.base import ability
from mixfield.errors import MixfieldError
from mixfield.solvers.base import MeanFieldSolver

Bools = NDArray[np.bool_]
Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class SuppressedRegions:
    """ADD cuts: connected regions where a label that the mode does not take has at least some probability.

    Attributes
    ----------
    levels : of that probability, by the evidence of each pixel alone, and at a high temperature.
    heat : that temperature, as a share of Gamma = 2 T_max.
    largest : regions per label and level.
    smallest : share of the field that a region must have.
    """

    levels: tuple[float, ...] = (0.3, 0.15, 0.05)
    heat: float = 1 / 3
    largest: int = 2
    smallest: float = 5e-4

    def propose(self, leaf: Leaf) -> Iterator[Proposal]:
        """Cuts, those of the evidence first."""
        return _level_cuts(self, leaf, lambda p, label, level: (leaf.labels != label) & (p > level))


@dataclass(frozen=True)
class DoubtedRegions(SuppressedRegions):
    """REMOVE cuts: connected regions whose label is doubtful; the attributes are those of `SuppressedRegions`."""

    levels: tuple[float, ...] = (0.8, 0.6)

    def propose(self, leaf: Leaf) -> Iterator[Proposal]:
        """Cuts, those of the evidence first."""
        return _level_cuts(self, leaf, lambda p, label, level: (leaf.labels == label) & (p < level))


@dataclass(frozen=True)
class SuppressedWindows:
    """ADD cuts: windows that hold most probability of a label that the mode does not take, where the field is hot.

    Attributes
    ----------
    shares : sides of the windows, as shares of the longer side of the field.
    heats : temperatures, as shares of Gamma = 2 T_max.
    smallest : share of the field that a group must have.
    """

    shares: tuple[float, ...] = (0.6, 0.3)
    heats: tuple[float, ...] = (1 / 3, 1 / 2)
    smallest: float = 5e-4

    def propose(self, leaf: Leaf) -> Iterator[Proposal]:
        """For every label, the pixels of the best window that prefer it to all labels but their own."""
        shape, labels = leaf.energy.shape, leaf.labels
        own = np.arange(leaf.q.shape[1]) == labels[:, None]
        free, threads = leaf.uncut, leaf.solver.options.threads
        heats, sides = temperatures(leaf.solver, self.heats), window_sides(shape, self.shares)
        q = leaf.marginals_at(heats)
        second = _threads.each(lambda k: np.where(own, -1.0, q[k]).argmax(1), len(heats), threads, updates=q.size)
        places = list(product(range(len(heats)), sides, range(q.shape[2])))

        def group_at(place: int) -> Int64s:
            k, side, label = places[place]
            marked = free & (labels != label)
            window = densest_sum(np.where(marked, q[k, :, label], 0.0).reshape(shape), side)
            return np.asarray(window[(marked & (second[k] == label))[window]])

        found = _threads.each(group_at, len(places), threads, updates=q.size)
        for (k, _, label), group in zip(places, found, strict=True):
            if len(group) >= max(1.0, self.smallest * len(labels)):
                yield Proposal(cut(group, label), heats[k])


def _level_cuts(
    how: SuppressedRegions, leaf: Leaf, marked: Callable[[NDArray[np.floating], int, float], Bools]
) -> Iterator[Proposal]:
    """Cuts of the regions that ``marked(probabilities of a label (n,), label, level)`` selects."""
    (heat,) = temperatures(leaf.solver, (how.heat,))
    for temperature, q in ((float("nan"), evidence(leaf)), (heat, leaf.marginals_at([heat])[0])):

        def groups(label: int, q: NDArray[np.floating] = q) -> list[Int64s]:
            found = (
                regions(leaf, marked(q[:, label], label, level), how.smallest, how.largest) for level in how.levels
            )
            return list(chain.from_iterable(found))

        found = _threads.each(groups, q.shape[1], leaf.solver.options.threads, updates=q.size)
        yield from (Proposal(cut(group, label), temperature) for label, some in enumerate(found) for group in some)


def temperatures(solver: MeanFieldSolver, shares: tuple[float, ...]) -> list[float]:
    """Temperatures as shares of Gamma = 2 T_max, none below 1."""
    gamma = 2.0 * solver.critical_temperature()
    return sorted({max(1.0, share * gamma) for share in shares})


def window_sides(shape: tuple[int, ...], shares: tuple[float, ...]) -> list[int]:
    """Sides of windows as shares of the longest side of a field."""
    return [max(1, round(share * max(shape))) for share in shares]


def evidence(leaf: Leaf) -> NDArray[np.float32]:
    """(n, L) probabilities of each pixel alone."""
    probabilities = ability(leaf.energy, "evidence")
    if probabilities is None:
        raise MixfieldError(
            f"regions need energy.evidence (a DenseCRF has it), {type(leaf.energy).__name__} does not provide it; "
            "use mf.criteria.Lookahead"
        )
    return np.asarray(probabilities)


def regions(leaf: Leaf, marked: Bools, smallest: float, largest: int) -> list[Int64s]:
    """The largest connected regions of marked pixels that may change."""
    from scipy import ndimage

    marked, least = marked & leaf.uncut, max(1.0, smallest * marked.size)
    if np.count_nonzero(marked) < least:
        return []
    flat = ndimage.label(marked.reshape(leaf.energy.shape))[0].ravel()
    sizes = np.bincount(flat)[1:]
    kept = np.argsort(-sizes, kind="stable")[:largest]
    return [np.flatnonzero(flat == k + 1) for k in kept if sizes[k] >= least]


def cut(group: Int64s, label: int) -> Cardinality:
    """Half of the group has the label (C = L / 2, as in the paper), or fewer."""
    return Cardinality(group, np.full(len(group), label), max(1, len(group) // 2))
