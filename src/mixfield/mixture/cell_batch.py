"""Cells of a dense field whose modes are found together, when they are asked for or before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield._threads import Task
from mixfield.constraints.cell import Cell
from mixfield.constraints.solution import CellSolution

Labels = NDArray[np.integer]
CutKey = tuple[int, bytes, bytes]  # a mode, a group of its pixels, and their labels


class NewLabels:
    """A test whether labels (n,) differ from all ``known`` ones: at most a share ``distinct`` is the same.

    Accepted labels are known from then on, to this test alone.  While it is ``unwanted``, nothing is accepted.
    """

    def __init__(self, known: list[Labels], distinct: float) -> None:
        self._known, self._distinct, self.unwanted = list(known), distinct, False
        self._answers: list[tuple[Labels, bool]] = []

    def __call__(self, labels: Labels) -> bool:
        labels = labels.astype(np.min_scalar_type(labels.max()), copy=False)
        same = self._distinct * labels.size
        new = not (self.unwanted or any(np.count_nonzero(labels == other) > same for other in self._known))
        self._answers.append((labels, new))
        self._known += [labels] * new
        return new

    def holds_given(self, known: list[Labels]) -> bool:
        """Whether its answers so far would have been the same, given other labelings."""
        other = NewLabels(known, self._distinct)
        return all(other(labels) == new for labels, new in self._answers)


@dataclass(frozen=True, eq=False)
class CellBatch:
    """Cells, which modes are new there, and the modes: None where none lives."""

    cells: dict[CutKey, Cell]
    accept: NewLabels
    modes: Task[list[CellSolution | None]]
