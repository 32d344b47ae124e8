"""Alternatives to the mean field of a fitted energy, from the modes of an energy with stronger couplings.

Couplings that fit annotated pixels best are weak, and the field has few modes; those of a stronger field change whole
objects, but its own mean field is worse than that of the fitted one.  So each mode of the stronger field is taken as a
change: its marginals where its labels differ from those of the stronger field's mean field, and those of the fitted
mean field elsewhere.  Further ones are changes of the fitted field itself if a label is cheaper or dearer, see
`mixfield.apps.label_shifts`.  A changed region with straight edges that the image does not have is refined, see
`mixfield.apps.straight_edges`; a small one, or one that has straight edges still, is left out.

A change between several pairs of labels asks several questions at once, so that the change between each pair is an
alternative too.  Cells of labelings, one for each, are separated by half of the pixels on which two of them differ
(eqs. 6 and 7 of the paper), so that the bounds A_k of the fitted energy add up as those of any mixture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

from mixfield.apps.label_shifts import label_shifts
from mixfield.apps.offers import DISTINCT
from mixfield.apps.straight_edges import ImageEdges
from mixfield.constraints.cardinality import Cardinality, mass_inside
from mixfield.energy.dense_crf import DenseCRF
from mixfield.mixture.node import Node
from mixfield.mixture.posterior import MixturePosterior
from mixfield.solvers.dispatch import solver_for
from mixfield.solvers.mean_field import mean_field
from mixfield.solvers.mode import Mode
from mixfield.solvers.options import Solver

LEAST_INSIDE = 0.99  # mass of an alternative in its own cell


def changes_of(
    found: MixturePosterior,
    energy: DenseCRF,
    image: NDArray[Any],
    probs: NDArray[np.floating],
    *,
    parts: bool = True,
    solver: Solver | None = None,
) -> MixturePosterior:
    """The mean field of an energy, and its alternatives: the changes that the modes of another field make to theirs.

    Parameters
    ----------
    found : modes of a field over the same pixels and labels.
    energy : whose mean field the changes are applied to; shifts of its labels are alternatives too.
    image : (H, W, channels) intensities.
    probs : (H, W, L) probabilities behind the energy.
    parts : whether the parts of a change between several pairs of labels are alternatives too.
    solver : of the mean field.

    Returns
    -------
    MixturePosterior
        The mean field first, then the alternatives in the order of ``found``, then shifts of labels, then parts of all
        these; ``log_z`` is a bound of the energy.
    """
    cells = disjoint_changes(found, energy, image, probs, parts=parts, solver=solver)
    modes = _with_bounds(cells.modes(), energy, solver)
    return MixturePosterior(modes, cells.tree(modes), found.t_max, found.notes)


def disjoint_changes(
    found: MixturePosterior,
    energy: DenseCRF,
    image: NDArray[Any],
    probs: NDArray[np.floating],
    *,
    parts: bool = True,
    solver: Solver | None = None,
) -> DisjointCells:
    """The modes of `changes_of` in cells of their own, without bounds."""
    answer = mean_field(energy, solver=solver)
    cells, edges = DisjointCells(answer), ImageEdges(image)
    whole = (*_as_changes(found, answer), *label_shifts(energy, answer, probs, solver=solver))
    refined = [_refined(answer, mode, edges) for mode in whole]
    for mode in (*refined, *(_parts(answer, refined) if parts else ())):
        changed = mode.labeling() != answer.labeling()
        if changed.mean() >= DISTINCT and edges.follow(changed):
            cells.add(mode)
    return cells


def _as_changes(found: MixturePosterior, answer: Mode) -> Iterator[Mode]:
    """The answer with the change of each mode."""
    before = found.modes[found.root_mode].labeling()
    for k, mode in enumerate(found.modes):
        if k != found.root_mode:
            yield _changed(answer, mode, mode.labeling() != before)


def _changed(answer: Mode, mode: Mode, region: NDArray[np.bool_]) -> Mode:
    """The answer with the marginals of another mode in a region."""
    marginals = np.where(region[..., None], mode.marginals, answer.marginals)
    return Mode(marginals, answer.log_z, converged=mode.converged, iterations=mode.iterations)


def _refined(answer: Mode, mode: Mode, edges: ImageEdges) -> Mode:
    """A mode whose change of the answer follows the image; a pixel that joins it gets the marginals of the nearest."""
    changed = mode.labeling() != answer.labeling()
    if edges.follow(changed):
        return _changed(answer, mode, changed)
    nearest = distance_transform_edt(~changed, return_distances=False, return_indices=True)
    return _changed(answer, replace(mode, marginals=mode.marginals[tuple(nearest)]), edges.refined(changed))


def _parts(answer: Mode, modes: Sequence[Mode]) -> Iterator[Mode]:
    """The change of each mode between one pair of labels, if it changes several and the labels are new ones."""
    root, n_labels = answer.labeling().ravel(), answer.marginals.shape[-1]
    seen = [mode.labeling().ravel() for mode in modes]
    for mode, labels in zip(modes, tuple(seen), strict=True):
        pairs = np.where(labels == root, -1, root * n_labels + labels)
        kinds, counts = np.unique(pairs[pairs >= 0], return_counts=True)
        for pair in kinds[counts >= DISTINCT * len(root)] if len(kinds) > 1 else ():
            part = np.where(pairs == pair, labels, root)
            if all((part != other).mean() >= DISTINCT for other in seen):
                seen.append(part)
                yield _changed(answer, mode, (pairs == pair).reshape(mode.marginals.shape[:-1]))


@dataclass(frozen=True)
class _Cut:
    """A cut of a cell, and the nodes of its two sides."""

    constraint: Cardinality
    inside: int
    outside: int


class DisjointCells:
    """Disjoint cells of labelings, one around each mode: a tree whose nodes are cuts, or the numbers of modes."""

    def __init__(self, first: Mode) -> None:
        self._nodes: list[_Cut | int] = [0]
        self._modes = [first]

    def add(self, mode: Mode) -> None:
        """Split the cell that holds the labels of a mode, unless too little mass would be in one of the new cells."""
        labels, node = mode.labeling().ravel(), 0
        path: tuple[Cardinality, ...] = ()
        while isinstance(cut := self._nodes[node], _Cut):
            holds = bool(cut.constraint.holds(labels))
            path = (*path, cut.constraint if holds else cut.constraint.opposite())
            node = cut.inside if holds else cut.outside
        group = np.flatnonzero(labels != self._modes[cut].labeling().ravel())
        if len(group) == 0:
            return
        constraint = Cardinality(group, labels[group], (len(group) + 1) // 2)
        new, old = _inside(mode, (*path, constraint)), _inside(self._modes[cut], (*path, constraint.opposite()))
        if min(new.mass_inside, old.mass_inside) >= LEAST_INSIDE:
            self._modes[cut] = old
            self._modes.append(new)
            self._nodes[node] = _Cut(constraint, len(self._nodes), len(self._nodes) + 1)
            self._nodes += [len(self._modes) - 1, cut]

    def modes(self) -> list[Mode]:
        """The modes with the constraints of their cells."""
        return self._modes

    def tree(self, modes: Sequence[Mode]) -> tuple[Node, ...]:
        """The tree of a posterior with these modes; a node that is cut has the bound of the mode that it had before."""
        parents: dict[int, tuple[int, Cardinality | None]] = {0: (-1, None)}
        for node, cut in enumerate(self._nodes):
            if isinstance(cut, _Cut):
                parents[cut.inside] = node, cut.constraint
                parents[cut.outside] = node, cut.constraint.opposite()
        return tuple(
            Node(*parents[node], float("nan"), modes[self._mode_of(node)].log_z, -1 if isinstance(cut, _Cut) else cut)
            for node, cut in enumerate(self._nodes)
        )

    def _mode_of(self, node: int) -> int:
        while isinstance(cut := self._nodes[node], _Cut):
            node = cut.outside
        return cut


def _inside(mode: Mode, constraints: tuple[Cardinality, ...]) -> Mode:
    q = mode.marginals.reshape(-1, mode.marginals.shape[-1])
    return replace(mode, constraints=constraints, mass_inside=mass_inside(q, constraints))


def _with_bounds(modes: Sequence[Mode], energy: DenseCRF, solver: Solver | None) -> tuple[Mode, ...]:
    """The modes with their bounds A_k of an energy; labels that no mode uses are left out of the sums."""
    used = np.flatnonzero(np.any([mode.marginals.reshape(-1, energy.n_labels).any(0) for mode in modes], 0))
    bounds = solver_for(energy.restricted(used), solver).bounds
    return tuple(
        replace(mode, log_z=float(bounds(mode.marginals.reshape(1, -1, energy.n_labels)[..., used])[0]))
        for mode in modes
    )
