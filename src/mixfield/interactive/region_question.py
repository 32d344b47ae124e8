"""The question whose answer is expected to correct most pixels: yes or no, about one region."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from mixfield.interactive.region_graph import RegionGraph

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

SMALLEST = 2e-3  # share of the image that an answer must be expected to correct
REPEATED = 0.5  # IoU with the region of an earlier question above which a question is the same


@dataclass(frozen=True, eq=False)
class RegionQuestion:
    """Does a region have another label than it has now?

    Attributes
    ----------
    region : (H, W) pixels of the question.
    old, new : its label now, and the one that the question is about.
    probability : of the answer yes.
    share : of the region in the image.
    text : the question in words.
    canvas_region : (h, w) the region on the canvas, which may be a reduced image.
    """

    region: Bools
    old: int
    new: int
    probability: float
    share: float
    text: str
    canvas_region: Bools

    @property
    def expected_gain(self) -> float:
        """Share of the image that the answer is expected to correct: area times the probability of the rarer answer."""
        return self.share * min(self.probability, 1 - self.probability)


@dataclass(frozen=True)
class Candidate:
    """A connected set of regions with another label in some modes than in the answer.

    Attributes
    ----------
    members : numbers of the regions.
    old, new : labels in the answer and in the other modes.
    probability : weight of the modes in which most of the area has the new label.
    gain : share of the image that the answer is expected to correct.
    """

    members: Ints
    old: int
    new: int
    probability: float
    gain: float


def best_candidate(
    graph: RegionGraph, labelings: Ints, weights: Floats, asked: Sequence[Bools] = ()
) -> Candidate | None:
    """The candidate with the largest expected gain; None if none is worth a question.

    Parameters
    ----------
    graph : of the regions.
    labelings : (K, n) labels of the modes, the answer first.
    weights : (K,) of the modes.
    asked : (h, w) regions of earlier questions, which are not asked again.
    """
    found = [
        candidate
        for candidate in _candidates(graph, labelings, weights)
        if candidate.gain >= SMALLEST and not _is_repeated(graph, candidate.members, asked)
    ]
    return max(found, key=lambda candidate: candidate.gain, default=None)


def _candidates(graph: RegionGraph, labelings: Ints, weights: Floats) -> Iterator[Candidate]:
    total, seen = graph.sizes.sum(), set()
    for other in labelings[1:]:
        for members in _components(graph, labelings[0], other):
            key = members.tobytes()
            if key not in seen:
                seen.add(key)
                old, new = int(labelings[0][members[0]]), int(other[members[0]])
                has = labelings[:, members] == new
                probability = float(weights[(has @ graph.sizes[members]) > 0.5 * graph.sizes[members].sum()].sum())
                gain = float(graph.sizes[members].sum() / total) * min(probability, 1 - probability)
                yield Candidate(members, old, new, probability, gain)


def _components(graph: RegionGraph, labels: Ints, other: Ints) -> list[Ints]:
    """Connected sets of regions with one label in the first labeling and one other in the second."""
    changed = labels != other
    first, second = graph.edges.T
    together = changed[first] & (labels[first] == labels[second]) & (other[first] == other[second])
    links = coo_array((np.ones(together.sum()), graph.edges[together].T), shape=(graph.n, graph.n))
    _, component = connected_components(links, directed=False)
    return [np.flatnonzero(component == c) for c in np.unique(component[changed])]


def _is_repeated(graph: RegionGraph, members: Ints, asked: Sequence[Bools]) -> bool:
    region = np.isin(graph.regions, members) if len(asked) else np.zeros((), bool)
    return any((region & one).sum() > REPEATED * (region | one).sum() for one in asked)
