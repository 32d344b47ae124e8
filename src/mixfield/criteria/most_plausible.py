"""Which of many cuts of an image first: those that are plausible and of the size of an object."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield.criteria.base import Criterion
from mixfield.criteria.leaf import Leaf, Proposal
from mixfield.criteria.regions import DoubtedRegions, SuppressedRegions, SuppressedWindows, evidence, temperatures
from mixfield.criteria.whole_labels import WholeLabels
from mixfield.criteria.windows import MeltingWindows
from mixfield.solvers.base import MeanFieldSolver

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MostPlausible:
    """The cuts of several criteria, the best first: plausible, of the size of an object, and not the same again.

    The score of a cut is ``plausibility - steepness * log(share / typical)^2 - apart * overlap``.  Its plausibility is
    what the evidence of each pixel alone gives, on average over the group, to the labels that the other side takes; the
    share is that of the group in the field; the overlap is the largest with the group of an earlier cut (intersection
    over union).

    Attributes
    ----------
    sources : criteria that propose the cuts.
    first : criteria whose cuts come before all others.  Large cuts belong here: parts of a whole label
        can be cut after it, but not conversely.
    typical, steepness, apart : chosen by what flips gained on annotated photographs (see the page on segmentation).
    same : cuts for the same label whose groups overlap more than this are one.
    tries : cuts proposed for each leaf.
    distinct : share of pixels on which two modes may have the same labels; beyond it the second is not worth a place.
    """

    sources: tuple[Criterion, ...] = (MeltingWindows(), SuppressedWindows(), SuppressedRegions(), DoubtedRegions())
    first: tuple[Criterion, ...] = (WholeLabels(),)
    typical: float = 0.1
    steepness: float = 0.06
    apart: float = 0.5
    same: float = 0.8
    tries: int = 64
    distinct: float = 0.995

    def temperatures(self, solver: MeanFieldSolver) -> list[float]:
        """Those of its windows."""
        windows = (source for source in self.sources if isinstance(source, MeltingWindows | SuppressedWindows))
        return temperatures(solver, tuple(share for source in windows for share in source.heats))

    def propose(self, leaf: Leaf) -> Iterator[Proposal]:
        """The best cuts first."""
        early = [proposal for source in self.first for proposal in source.propose(leaf)]
        found = [*early, *(proposal for source in self.sources for proposal in source.propose(leaf))]
        groups = [proposal.constraint.group for proposal in found]
        labels = np.array([proposal.constraint.labels[0] for proposal in found])
        probabilities = evidence(leaf)
        scores = np.array([self._score(proposal, leaf, probabilities) for proposal in found])
        overlap = np.zeros(len(found))
        for _ in range(min(self.tries, len(found))):
            ranked = scores - self.apart * overlap
            best = int(np.argmax(ranked[: len(early)] if np.isfinite(ranked[: len(early)]).any() else ranked))
            if np.isneginf(scores[best]):
                return
            yield found[best]
            common = _overlaps(groups, best, len(leaf.q))
            overlap = np.maximum(overlap, common)
            scores[(labels == labels[best]) & (common > self.same)] = -np.inf

    def _score(self, proposal: Proposal, leaf: Leaf, probabilities: NDArray[np.floating]) -> float:
        cut = proposal.constraint
        given = float(probabilities[cut.group, cut.labels].mean())
        held = float(leaf.q[cut.group, cut.labels].mean()) > 0.5  # the mode has these labels: the other side loses them
        share = len(cut.group) / len(leaf.q)
        return (1.0 - given if held else given) - self.steepness * float(np.log(share / self.typical)) ** 2


def _overlaps(groups: list[NDArray[np.int64]], chosen: int, n: int) -> Floats:
    """Intersection over union of every group with one of them."""
    marked = np.zeros(n, bool)
    marked[groups[chosen]] = True
    common = np.array([np.count_nonzero(marked[group]) for group in groups])
    sizes = np.array([len(group) for group in groups])
    return np.asarray(common / (sizes + sizes[chosen] - common))
