"""The modes of a dense field: push a group of pixels to its other side, and release it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield._threads import Task
from mixfield.constraints.cardinality import Cardinality
from mixfield.constraints.cell import Cell
from mixfield.constraints.firm_clamp import FirmClamp
from mixfield.constraints.solution import CellSolution
from mixfield.criteria.leaf import Leaf, Proposal
from mixfield.errors import InfeasibleError
from mixfield.mixture.cell_batch import CellBatch, CutKey, Labels, NewLabels
from mixfield.mixture.finder import Coming, ModeFinder
from mixfield.solvers.dense import DenseSolver
from mixfield.solvers.layout import Layout

BATCH = 16  # cuts of one leaf whose modes are found together
BATCH_CHANNELS = 16  # numbers of a pixel up to which modes are cheaper together than one after the other
MOST_AHEAD = 6  # modes of a batch beside which the next is solved: more keep the threads busy, and change what is next
LARGEST_AHEAD = 1 << 20  # pixels up to which a batch is solved ahead: it takes as much memory as the present one


class DenseModeFinder(ModeFinder):
    """Finds the modes of cells of a `DenseCRF` with a `FirmClamp`.

    Parameters
    ----------
    solver, clamp : how modes are computed and held.
    distinct : largest share of pixels on which two modes may have the same labels; 1 allows all.
    """

    solver: DenseSolver
    draws = False

    def __init__(self, solver: DenseSolver, clamp: FirmClamp, *, distinct: float = 1.0) -> None:
        super().__init__(solver)
        self.clamp, self.distinct = clamp, distinct
        self._layout = Layout(solver.energy, 1)
        self._prefetched: dict[CutKey, CellSolution | None] = {}
        self._labelings: list[Labels] = []  # of the modes found so far
        self._ahead: CellBatch | None = None  # expected to be asked for next
        self._tried, self._found = 1, 1  # cells, and those of them with a mode
        self.expect(1, ())

    def root(self, cell: Cell) -> CellSolution:  # noqa: ARG002 (nothing is cut yet)
        """The mean field that starts at softmax(-U)."""
        values, log_z, run = self.solver.from_unaries()
        mode = CellSolution(self._layout.unpack(values), log_z, run.converged, run.iterations)
        self._labelings.append(mode.labels[0])
        return mode

    def expect(self, wanted: int, coming: Iterable[Coming]) -> None:
        self._wanted, self._coming = wanted, coming
        if wanted == 0 and self._ahead is not None:  # nothing is at work when the tree is grown
            self._ahead.accept.unwanted = True
            self._ahead.modes.drop()

    def prefetch(self, leaf: Leaf, parent: CellSolution, proposals: Iterable[Proposal]) -> None:
        """Solve in one batch the cells that the next proposals cut away from the mode of a leaf.

        Later cuts of the same leaf separate the same mode from the same group, so they find their answer here.  Cuts
        made in between may not hold for it, which `solve_in_cell` checks.  Where this batch is not likely to be the
        last, the one that is expected next is solved at the same time; its modes are used if the same cells are asked
        for then, and the same ones are new.
        """
        proposals, wanted, coming = list(proposals), self._wanted, self._coming
        self.expect(1, ())  # or the tree, which refers to this finder, would not be freed at once
        if _key(parent, proposals[0].constraint) in self._prefetched:
            return
        cells = self._next_cells(leaf, parent, proposals, self._prefetched)
        if not cells:
            return
        batch, self._ahead = self._ahead, None
        if batch is None or list(batch.cells) != list(cells):  # others would change the updates of these
            if batch is not None:
                batch.accept.unwanted = True
            batch = self._batch(parent, cells)
        too_few = len(cells) * self._found < wanted * self._tried
        if too_few and len(cells) <= MOST_AHEAD and self.solver.energy.n <= LARGEST_AHEAD:
            self._ahead = self._started_with(batch, coming)
        found = batch.modes.result()
        if not batch.accept.holds_given(self._labelings):
            found = self._batch(parent, cells).modes.result()
        self._prefetched.update(zip(cells, found, strict=True))
        self._tried, self._found = self._tried + len(cells), self._found + sum(one is not None for one in found)

    def _started_with(self, batch: CellBatch, coming: Iterable[Coming]) -> CellBatch | None:
        """The batch that is expected next; both are at work if there are threads for it."""
        batch.modes.start()
        for leaf, parent, proposals in coming:
            cells = self._next_cells(leaf, parent, proposals, dict(self._prefetched))
            if cells:
                ahead = self._batch(parent, cells)
                ahead.modes.start()
                return ahead
        return None

    def _batch(self, parent: CellSolution, cells: dict[CutKey, Cell]) -> CellBatch:
        accept, clamp = NewLabels(self._labelings, self.distinct), self.clamp
        solve = partial(clamp.solve_in_cells, self.solver, list(cells.values()), parent, accept=accept)
        return CellBatch(cells, accept, Task(solve, self.solver.options.threads))

    def _next_cells(
        self, leaf: Leaf, parent: CellSolution, proposals: Iterable[Proposal], prefetched: dict[CutKey, Any]
    ) -> dict[CutKey, Cell]:
        """The cells of the next batch; its proposals join those that are ``prefetched``."""
        batch = min(BATCH, max(1, BATCH_CHANNELS // self._layout.stored))
        cells: dict[CutKey, Cell] = {}
        labels = parent.labels[0]
        for proposal in proposals:
            key = _key(parent, proposal.constraint)
            if len(cells) < batch and key not in prefetched:
                prefetched[key] = None
                cell = _cut_away(leaf, parent, proposal.constraint)
                if cell is not None and self._may_be_new(cell, parent.q[0], labels):
                    cells[key] = cell
        return cells

    def solve_in_cell(self, cell: Cell, parent: CellSolution) -> CellSolution | None:
        """The parent's mode where it lives in the cell, otherwise the one found by firm clamping and release."""
        enough = 1.0 - self.clamp.epsilon * len(cell.constraints)
        last = cell.constraints[-1]
        key = _key(parent, last)
        if key in self._prefetched and self._prefetched[key] is None:
            return None  # on the other side, or here
        if last.probability(parent.q[0]) < 0.5:
            found = self._prefetched.get(key)
            if found is not None:
                if not NewLabels(self._labelings, self.distinct)(found.labels[0]):
                    return None
                self._labelings.append(found.labels[0])
        elif cell.mass(parent.q[0]) >= enough:
            return parent
        else:  # the parent's side, of which its mode does not satisfy all constraints
            found = self.clamp.solve_in_cells(self.solver, [cell], parent)[0]
        return found if found is not None and cell.mass(found.q[0]) >= enough else None

    def _may_be_new(self, cell: Cell, q: NDArray[np.float64], labels: Labels) -> bool:
        """Whether the last cut could lead away from a mode ``q`` (n, L), with ``labels`` (n,), to a new one.

        If its group went to the other side and nothing else changed, earlier cuts must hold, and at least half of the
        pixels must change that make two modes distinct.
        """
        last = cell.constraints[-1]
        pushed, limit = _pushed(q, labels, last), 0.5 + 0.5 * self.distinct
        earlier = [c for c in cell.soft if c.identity != last.identity]
        return all(c.holds(pushed) for c in earlier) and not any(
            np.count_nonzero(pushed == other) > limit * pushed.size for other in self._labelings
        )


def _cut_away(leaf: Leaf, parent: CellSolution, constraint: Cardinality) -> Cell | None:
    """The cell of a leaf on the side of a cut where its mode is not, if there is one."""
    for side in (constraint, constraint.opposite()):
        if side.probability(parent.q[0]) < 0.5:
            try:
                return leaf.cell.cut(side)
            except InfeasibleError:
                return None
    return None


def _pushed(q: NDArray[np.float64], labels: Labels, constraint: Cardinality) -> Labels:
    """(n,) labels of a mode ``q``, with the group of a constraint on its side."""
    labels, group = labels.copy(), constraint.group
    if constraint.sign > 0:
        labels[group] = constraint.labels
    else:
        others = np.where(np.arange(q.shape[1]) == constraint.labels[:, None], -1.0, q[group])
        labels[group] = others.argmax(1)
    return labels


def _key(parent: CellSolution, constraint: Cardinality) -> CutKey:
    return parent.serial, constraint.group.tobytes(), constraint.labels.tobytes()
