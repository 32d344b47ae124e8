"""The field over regions that strokes, scores and votes define: a Potts model with the strokes fixed."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mixfield.energy.factor_graph import FactorGraph
from mixfield.interactive.canvas import Canvas
from mixfield.interactive.region_graph import RegionGraph, cut_by, region_graph, region_labels
from mixfield.interactive.stroke_evidence import EvidenceWeights, stroke_evidence

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]
Ints = NDArray[np.int64]

LIKELY = 0.02  # probability that a label without strokes must reach somewhere to be considered
RARE = 1e-3  # probability at which logarithms end
CONFIDENT, SHARE = 0.9, 0.1  # regions that stand for a label without strokes: least probability, share of the image


@dataclass(frozen=True)
class StrokeModel:
    """Strengths of the terms of the field, in nats.

    Attributes
    ----------
    evidence : of the features of strokes.
    strength : factor of the evidence: that of neighbouring regions is not independent.
    scores : factor of the log probabilities of a network.
    coupling : cost of different labels across a border of mean length and contrast.
    """

    evidence: EvidenceWeights = field(default_factory=EvidenceWeights)
    strength: float = 0.2
    scores: float = 0.5
    coupling: float = 0.9


@dataclass(frozen=True, eq=False)
class RegionField:
    """A Potts model over the regions of an image.

    Attributes
    ----------
    graph : the regions, none of which two strokes of different labels cross.
    seeds : (n,) labels of the strokes, numbers of ``active``, -1 elsewhere.
    active : labels that are considered, of ``n_labels``.
    costs : (n, active labels) of the labels of the regions.
    couplings : (m,) costs of different labels across each edge of the graph.
    has_scores : whether the costs contain the scores of a network.
    """

    graph: RegionGraph
    seeds: Ints
    active: Ints
    n_labels: int
    costs: Floats
    couplings: Floats
    has_scores: bool = False

    @cached_property
    def energy(self) -> FactorGraph:
        """Over regions and active labels; regions with strokes have one label only."""
        return self.with_evidence(0.0)

    def with_evidence(self, evidence: Floats | float) -> FactorGraph:
        """The energy with further evidence (n, active labels) in nats; regions with strokes keep their label."""
        unary, known = self.costs - evidence, self._known
        unary[known] = np.inf
        unary[known, self.seeds[known]] = 0.0
        differ = 1.0 - np.eye(unary.shape[1])
        return FactorGraph.from_pairwise(unary, self.graph.edges, self.couplings[:, None, None] * differ)

    def with_strokes(self, marginals: Floats) -> Floats:
        """Marginals (n, active labels) with certain labels where strokes are."""
        certain = marginals.copy()
        certain[self._known] = np.eye(len(self.active))[self.seeds[self._known]]
        return certain

    @property
    def _known(self) -> Ints:
        """Numbers of the regions with strokes."""
        return np.flatnonzero(self.seeds >= 0)


def region_field(
    canvas: Canvas,
    strokes: Ints,
    n_labels: int,
    *,
    probs: Float32s | None = None,
    votes: Float32s | None = None,
    model: StrokeModel | None = None,
) -> RegionField:
    """The field of strokes on a canvas.

    Parameters
    ----------
    canvas : of the image, (h, w) pixels.
    strokes : (h, w) labels, negative where there are none.
    n_labels : L.
    probs : (h, w, L) probabilities of a network.
    votes : (h, w, L) further evidence in nats, such as answers to questions.
    model : strengths of the terms.
    """
    model = model or StrokeModel()
    graph = region_graph(cut_by(canvas.regions, strokes), canvas.features)
    seeds = region_labels(graph.regions, strokes, graph.n)
    region_probs = None if probs is None else graph.means(probs)
    active = active_labels(seeds, n_labels, region_probs)
    seeds = np.where(seeds < 0, -1, np.searchsorted(active, seeds))
    evidence = np.zeros((graph.n, len(active)))
    if region_probs is not None:
        region_probs = region_probs[:, active]
        evidence += model.scores * np.log(region_probs + RARE)
    if (seeds >= 0).any():
        known, frame = with_stand_ins(graph, seeds, len(active), region_probs)
        evidence += model.strength * stroke_evidence(graph, known, len(active), frame=frame, weights=model.evidence)
    if votes is not None:
        evidence += graph.means(votes)[:, active]
    couplings = model.coupling * graph.relative_borders * np.exp(1 - graph.contrasts)  # strong where colours are alike
    return RegionField(graph, seeds, active, n_labels, -evidence, couplings, probs is not None)


def active_labels(seeds: Ints, n_labels: int, probs: Floats | None) -> Ints:
    """Labels with strokes or with some probability; at least two, the first ones, if there are two."""
    considered = np.bincount(seeds[seeds >= 0], minlength=n_labels) > 0
    if probs is not None:
        considered |= probs.max(0) > LIKELY
    missing = max(0, min(2, n_labels) - int(considered.sum()))
    considered[np.flatnonzero(~considered)[:missing]] = True
    return np.flatnonzero(considered)


def with_stand_ins(graph: RegionGraph, seeds: Ints, n_labels: int, probs: Floats | None) -> tuple[Ints, int | None]:
    """Seeds (n,) with stand-ins for labels without strokes, and the label of the border of the image, if any.

    Of two labels, the border stands for the first; of more, for the first without strokes.  A network's most confident
    regions stand for the others without strokes.
    """
    without = [label for label in range(n_labels) if not (seeds == label).any()]
    frame = 0 if n_labels == 2 else next(iter(without), None) if probs is None else None
    found = seeds.copy()
    if probs is not None:
        for label in without:
            found[_confident(graph, np.flatnonzero(found < 0), probs[:, label])] = label
    return found, frame


def _confident(graph: RegionGraph, free: Ints, probs: Floats) -> Ints:
    """Those of the regions ``free`` in which a network is most confident."""
    best = free[np.argsort(-probs[free], kind="stable")]
    small = np.cumsum(graph.sizes[best]) <= SHARE * graph.sizes.sum()
    return best[small & (probs[best] >= CONFIDENT)]
