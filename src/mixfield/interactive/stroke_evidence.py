"""What strokes say about every region: diffusion to neighbours, and to regions that look alike.

The log evidence of a region for a label is a weighted sum of few features, a multinomial logistic model.  Its weights
were fitted to photographs with strokes and with clicks.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield.interactive.diffusion import diffuse
from mixfield.interactive.region_graph import RegionGraph

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CONTRAST = 2.0  # how fast conductances between neighbours fall with the relative contrast
SIMILARITY = 0.5  # conductance between regions that look the same, against that of a mean border
WEAKEST = 1e-3  # conductance of the sharpest border
FRAME = 0.1  # conductance from the border of the image to the label that it stands for, against that of a mean border
RARE = 1e-3  # probability at which logarithms end
SMALL = 1e-2  # share of the image at which logarithms end


@dataclass(frozen=True)
class EvidenceWeights:
    """Weights of the features of a region for a label.

    Attributes
    ----------
    near : of the log probability that a random walk between neighbours meets a stroke of the label first.
    far : the same where the walk may also jump between regions that look alike.
    near_mass, far_mass : of the logarithms of the shares of the image that these probabilities give to the label.  As
        they are negative, a label with little strokes is not at a disadvantage (class mass normalisation of Zhu et
        al., ICML 2003).
    """

    near: float = 1.18
    far: float = 1.76
    near_mass: float = -0.3
    far_mass: float = -1.39


def stroke_evidence(
    graph: RegionGraph, seeds: Ints, n_labels: int, *, frame: int | None, weights: EvidenceWeights
) -> Floats:
    """(n, L) log evidence of each region for each label, up to a constant of the region.

    Parameters
    ----------
    graph : of the regions.
    seeds : (n,) labels of regions that strokes cross, -1 elsewhere.
    n_labels : L.
    frame : label for which the border of the image stands, weakly; None if there is none.
    weights : of the features.
    """
    return stroke_features(graph, seeds, n_labels, frame=frame) @ np.array(astuple(weights))


def stroke_features(graph: RegionGraph, seeds: Ints, n_labels: int, *, frame: int | None) -> Floats:
    """(n, L, 4) features of each region and label, in the order of `EvidenceWeights`."""
    alike = SIMILARITY * np.exp(-graph.dissimilarities)
    edges, conductances = [graph.edges], [_touching(graph)]
    if frame is not None:
        to_frame, lengths = _frame(graph)
        edges.append(to_frame)
        conductances.append(lengths)
        seeds = np.append(seeds, frame)
    near = _diffused(edges, conductances, seeds, n_labels)[: graph.n]
    far = _diffused([*edges, graph.similar], [*conductances, alike], seeds, n_labels)[: graph.n]
    features = [np.log(near + RARE), np.log(far + RARE), _log_mass(graph, near), _log_mass(graph, far)]
    return np.stack(features, axis=-1)


def reach(graph: RegionGraph, seeds: Ints, at: Ints) -> Floats:
    """(n,) probability that a random walk between neighbours first meets regions ``at``, not other seeds or the border.

    Parameters
    ----------
    graph : of the regions.
    seeds : (n,) labels of regions that strokes cross, -1 elsewhere.
    at : numbers of regions.
    """
    ends = np.append(np.where(seeds >= 0, 0, -1), 0)
    ends[at] = 1
    to_frame, lengths = _frame(graph)
    return _diffused([graph.edges, to_frame], [_touching(graph), lengths], ends, 2)[: graph.n, 1]


def _touching(graph: RegionGraph) -> Floats:
    """(m,) conductances between neighbours."""
    return np.asarray(graph.relative_borders * np.exp(-CONTRAST * graph.contrasts) + WEAKEST)


def _frame(graph: RegionGraph) -> tuple[Ints, Floats]:
    """Edges to one more vertex, to which the border of the image is connected, and their conductances."""
    at, lengths = graph.image_border
    unit = graph.borders.mean() if len(graph.borders) else 1.0
    return np.stack([at, np.full(len(at), graph.n)], axis=1), FRAME * lengths / unit


def _diffused(edges: list[Ints], conductances: list[Floats], seeds: Ints, n_labels: int) -> Floats:
    return diffuse(np.concatenate(edges), np.concatenate(conductances), seeds, n_labels)


def _log_mass(graph: RegionGraph, probs: Floats) -> Floats:
    """(n, L) the same for all regions: logarithm of the share of each label."""
    shares = graph.sizes @ probs / graph.sizes.sum()
    return np.broadcast_to(np.log(shares + SMALL), probs.shape)
