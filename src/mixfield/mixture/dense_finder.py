"""The modes of a dense field: converge the root, push a group to its other side, and let go."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mixfield.constraints.cardinality import Cardinality
from mixfield.constraints.cell import Cell
from mixfield.constraints.clamp import Settled
from mixfield.constraints.firm_clamp import FirmClamp
from mixfield.criteria.leaf import Leaf, Proposal
from mixfield.criteria.optima import Optima
from mixfield.energy.dense_crf import DenseCRF
from mixfield.errors import InfeasibleError
from mixfield.solvers import dense, packing
from mixfield.solvers.dense_update import Iteration
from mixfield.solvers.mean_field import Solver

CHANNELS = 16  # numbers of a pixel, up to which modes of dense fields are cheaper together than one after the other


@dataclass(eq=False)
class Releasing:
    """Finds the modes of cells of a `DenseCRF`.

    Attributes
    ----------
    batch : cuts of one leaf whose modes are found together, at little more than the price of one.
    distinct : share of pixels on which two modes may have the same labels; 1 allows all.
    """

    crf: DenseCRF
    clamp: FirmClamp
    solver: Solver
    batch: int = 16
    distinct: float = 1.0
    temperatures: int = 8
    optima: Optima = field(init=False)
    foreseen: dict[tuple[int, bytes, bytes], Settled | None] = field(default_factory=dict)
    labelings: list[NDArray[np.integer]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.optima = Optima(self.crf.n, self.crf.n_labels, capacity=0)

    def root(self, cell: Cell) -> Settled:  # noqa: ARG002 (nothing is cut yet)
        """The mean field that starts where pixels do not hear of each other."""
        iteration = Iteration(self.crf, 1, packing.no_bias(self.crf), threads=self.solver.threads)
        values, run = dense.climb(
            iteration,
            None,
            np.ones(1),
            tolerance=max(self.solver.tolerance_for(self.crf), dense.SINGLE),
            max_iterations=self.solver.max_iterations,
        )
        q = packing.unpack(self.crf, values, 1)
        self.labelings.append(_labels(q[0]))
        return Settled(q, iteration.bounds(values, untouched=True), run.converged, run.iterations)

    def warm_up(self, root: Leaf) -> Settled | None:  # noqa: ARG002
        """The root is converged already."""
        return None

    def foresee(self, leaf: Leaf, parent: Settled, proposals: Iterable[Proposal]) -> None:
        """Settle in one batch the cells that the next proposals cut away from the mode of a leaf.

        Later cuts of the same leaf find their answer here: they separate the same mode from the same group, and the
        cuts made in between hold as long as they do for the answer, which `settle` checks.
        """
        proposals = list(proposals)
        if _key(parent, proposals[0].constraint) in self.foreseen:
            return
        together = min(self.batch, max(1, CHANNELS // self.crf.channels))
        cells: dict[tuple[int, bytes, bytes], Cell] = {}
        for proposal in proposals:
            key = _key(parent, proposal.constraint)
            if len(cells) < together and key not in self.foreseen:
                self.foreseen[key] = None
                cell = _away(leaf, parent, proposal.constraint)
                if cell is not None and self._is_promising(cell, parent):
                    cells[key] = cell
        if cells:
            wanted = self._remembering(list(self.labelings))  # some of them will be refused
            found = self.clamp.settle(self.crf, list(cells.values()), parent, self.solver, wanted=wanted)
            self.foreseen.update(zip(cells, found, strict=True))

    def _is_promising(self, cell: Cell, parent: Settled) -> bool:
        """Whether the last cut could lead to a new mode: if its whole group went to the other side, and nothing else
        moved, earlier cuts would hold, and at least half of the pixels would change that make two modes distinct."""
        last = cell.constraints[-1]
        pushed, nearly = _pushed(parent.q[0], last), 0.5 + 0.5 * self.distinct
        return all(earlier.holds(pushed) for earlier in cell.soft if earlier is not last) and not any(
            np.count_nonzero(pushed == other) > nearly * pushed.size for other in self.labelings
        )

    def settle(self, cell: Cell, parent: Settled) -> Settled | None:
        """The parent's mode where it lives in the cell, otherwise the one that firm clamping and release lead to."""
        enough = 1.0 - self.clamp.epsilon * len(cell.constraints)
        if cell.constraints[-1].probability(parent.q[0]) < 0.5:
            found = self.foreseen.get(_key(parent, cell.constraints[-1]))
            if found is not None and not self._remembering(self.labelings)(_labels(found.q[0])):
                return None
        elif cell.mass(parent.q[0]) >= enough:
            return parent
        else:  # the parent's side, where its mode is not quite at home
            found = self.clamp.settle(self.crf, [cell], parent, self.solver)[0]
        return found if found is not None and cell.mass(found.q[0]) >= enough else None

    def _remembering(self, known: list[NDArray[np.integer]]) -> Callable[[NDArray[np.integer]], bool]:
        """Tells whether labels are nearly those of none that are ``known``; new ones join them."""

        def is_new(labels: NDArray[np.integer]) -> bool:
            labels = labels.astype(np.min_scalar_type(self.crf.n_labels), copy=False)  # few bytes to compare
            fresh = not any(np.count_nonzero(labels == other) > self.distinct * labels.size for other in known)
            if fresh:
                known.append(labels)
            return fresh

        return is_new

    def fork(self) -> Releasing:
        """This one: it learns nothing from polishing."""
        return self

    def polish(self, leaf: Leaf) -> Settled | None:  # noqa: ARG002
        """Nothing was found after it that could help."""
        return None


def _away(leaf: Leaf, parent: Settled, constraint: Cardinality) -> Cell | None:
    """The cell of a leaf on that side of a cut where its mode is not, if there is one."""
    for side in (constraint, constraint.opposite()):
        if side.probability(parent.q[0]) < 0.5:
            try:
                return leaf.cell.cut(side)
            except InfeasibleError:
                return None
    return None


def _pushed(q: NDArray[np.float64], constraint: Cardinality) -> NDArray[np.integer]:
    """(n,) labels of a mode, the group of a constraint pushed to its side, the rest where it was."""
    labels, group = _labels(q), constraint.group
    if constraint.sign > 0:
        labels[group] = constraint.labels
    else:
        others = np.where(np.arange(q.shape[1]) == constraint.labels[:, None], -1.0, q[group])
        labels[group] = others.argmax(1)
    return labels


def _labels(q: NDArray[np.float64]) -> NDArray[np.integer]:
    return q.argmax(1).astype(np.min_scalar_type(q.shape[1]))


def _key(parent: Settled, constraint: Cardinality) -> tuple[int, bytes, bytes]:
    """Which mode, which group of it, and which labels that may lose or gain."""
    return id(parent.q), constraint.group.tobytes(), constraint.labels.tobytes()
