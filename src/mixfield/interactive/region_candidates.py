"""Labelings of regions that may be right: modes of the field, and of fields that differ from it where it is unsure.

How large an object is, and how far a click reaches, the field cannot know.  Mean fields with a bias for a label,
everywhere or around the last click, are answers to that.  And what was shown may be right but for the error that was
corrected: each of these labelings is also taken for the region of the last click alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from mixfield.interactive.region_field import RegionField
from mixfield.interactive.stroke_evidence import reach
from mixfield.solvers.dispatch import solver_for
from mixfield.solvers.mean_field import mean_field
from mixfield.solvers.mode import Mode

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SIZES = (-1.0, -0.5, 0.5, 1.0)  # nats for the second of two labels, in every region
EXTENTS = (-1.0, 1.0, 2.0, 4.0)  # nats for the label of the last click, in the regions that it reaches
BEYOND_SCORES = (8.0, 16.0)  # further ones where there are scores: a click has to overcome those of all its regions
CERTAIN = 0.95  # probability of what was shown


@dataclass(frozen=True, eq=False)
class LastAction:
    """What the annotator saw and changed last.

    Attributes
    ----------
    shown : (h, w) labels that the annotator saw.
    place : (h, w) pixels of the click, or of the region of a question.
    label : that they have.
    """

    shown: NDArray[np.integer]
    place: Bools
    label: int


def relabelled(last: LastAction, pixels: Bools) -> NDArray[np.integer]:
    """(h, w) what was shown, with the label of the last action in some pixels."""
    return np.where(pixels, np.asarray(last.label, last.shown.dtype), last.shown)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A labeling that may be right, and where it comes from.

    Attributes
    ----------
    marginals : (n, active labels) of the regions.
    resized, extended : whether it has a bias everywhere, or around the last click.
    kept : whether it is what was shown but for the region of the last action.
    exact : (h, w) labels of a candidate that was found pixel by pixel; None for others.
    """

    marginals: Floats
    resized: bool = False
    extended: bool = False
    kept: bool = False
    exact: NDArray[np.integer] | None = None

    @property
    def labels(self) -> Ints:
        """(n,) numbers of active labels."""
        return np.asarray(self.marginals.argmax(-1))


def candidates(
    field: RegionField, modes: Sequence[Mode], last: LastAction | None, local: Sequence[Bools] = ()
) -> list[Candidate]:
    """Different labelings, those of ``modes`` first.

    Parameters
    ----------
    field : of the regions.
    modes : of the field.
    last : what was shown and changed last; None if no segmentation was shown.
    local : (h, w) sets of pixels that may change with the last action.
    """
    if last is not None and last.label not in field.active:
        last = None
    found = [Candidate(mode.marginals) for mode in modes]
    biased = [*_resized(field), *(_extended(field, last) if last else ())]
    best = max(range(len(modes)), key=lambda k: modes[k].log_z)
    kept = _kept(field, [found[best], *biased], last) if last else ()
    exact = [_exact(field, relabelled(last, pixels)) for pixels in local] if last else ()
    return _distinct([*found, *biased, *kept, *exact])


def bounds(field: RegionField, found: Sequence[Candidate]) -> Floats:
    """(K,) bounds A_k of the field, without any bias."""
    return np.asarray(solver_for(field.energy, None).bounds(np.stack([one.marginals for one in found])))


def _resized(field: RegionField) -> Iterator[Candidate]:
    """Mean fields with a bias for the object; only where there are two labels."""
    if len(field.active) == 2:
        for bias in SIZES:
            evidence = np.tile([0.0, bias], (field.graph.n, 1))
            yield Candidate(mean_field(field.with_evidence(evidence)).marginals, resized=True)


def _extended(field: RegionField, last: LastAction) -> Iterator[Candidate]:
    """Mean fields with a bias for the label of the last action, in proportion to how well its regions reach others."""
    label, regions = _active_label(field, last), field.graph.regions_in(last.place)
    if len(regions):
        near = reach(field.graph, field.seeds, regions)
        for bias in EXTENTS + (BEYOND_SCORES if field.has_scores else ()):
            evidence = np.zeros((field.graph.n, len(field.active)))
            evidence[:, label] = bias * near
            yield Candidate(mean_field(field.with_evidence(evidence)).marginals, extended=True)


def _kept(field: RegionField, found: Sequence[Candidate], last: LastAction) -> Iterator[Candidate]:
    """What was shown, with the marginals of a candidate in the connected regions that change with the last action."""
    label, at = _active_label(field, last), field.graph.regions_in(last.place)
    shown = field.graph.majority(last.shown, field.active)
    before = _certain(shown, len(field.active))
    for one in found:
        labels = one.labels
        labels[at] = label
        changes = _connected(field.graph.edges, np.where(labels != shown, labels, -1))
        corrected = np.isin(changes, changes[at]) & (changes >= 0)
        marginals = np.where(corrected[:, None], one.marginals, before)
        marginals[at] = _certain(np.full(len(at), label), len(field.active))
        yield replace(one, marginals=field.with_strokes(marginals), kept=True)


def _exact(field: RegionField, labels: NDArray[np.integer]) -> Candidate:
    """What was shown but for some pixels: a label map (h, w)."""
    marginals = field.with_strokes(_certain(field.graph.majority(labels, field.active), len(field.active)))
    return Candidate(marginals, extended=True, kept=True, exact=labels)


def _certain(labels: Ints, n_labels: int) -> Floats:
    """(n, L) marginals of labels (n,) that were shown."""
    return np.asarray(CERTAIN * np.eye(n_labels)[labels] + (1 - CERTAIN) / n_labels)


def _active_label(field: RegionField, last: LastAction) -> int:
    return int(np.searchsorted(field.active, last.label))


def _connected(edges: Ints, labels: Ints) -> Ints:
    """(n,) numbers of the connected sets of vertices of equal labels (n,), -1 for vertices with label -1."""
    inside = edges[(labels[edges[:, 0]] == labels[edges[:, 1]]) & (labels[edges[:, 0]] >= 0)]
    links = coo_array((np.ones(len(inside)), inside.T), shape=(len(labels), len(labels)))
    _, component = connected_components(links, directed=False)
    return np.where(labels >= 0, component, -1).astype(np.int64)


def _distinct(found: Sequence[Candidate]) -> list[Candidate]:
    """The first of equal labelings, or of equal sets of pixels."""
    first: dict[bytes, Candidate] = {}
    for one in found:
        first.setdefault((one.labels if one.exact is None else one.exact).tobytes(), one)
    return list(first.values())
