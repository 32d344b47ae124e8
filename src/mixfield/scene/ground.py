"""The ground plane as a grid of cells, in metres."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.errors import MixfieldError

MAX_CELLS = 2_000_000  # a square kilometre at 71 cm; boxes of so many take two seconds


@dataclass(frozen=True)
class Ground:
    """A rectangle of the ground plane, divided into square cells.

    Attributes
    ----------
    shape : rows (along y) and columns (along x).
    cell : side of a cell in metres.
    origin : smallest x and y of the rectangle in metres, the corner of cell (0, 0).
    """

    shape: tuple[int, int]
    cell: float
    origin: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        if len(self.shape) != 2:
            raise MixfieldError(f"shape must be (rows, columns), got {self.shape!r}")
        for name, count in zip(("rows", "columns"), self.shape, strict=True):
            _arrays.at_least(name, count, 1)
        _arrays.positive("cell", self.cell)
        if self.n > MAX_CELLS:
            rows, columns = self.shape
            raise MixfieldError(
                f"the ground has {rows} x {columns} cells, more than {MAX_CELLS}; give a smaller area or larger cells"
            )

    @property
    def n(self) -> int:
        """Number of cells."""
        return self.shape[0] * self.shape[1]

    def centres(self) -> NDArray[np.float64]:
        """(rows, columns, 2) x and y in metres of the centre of each cell."""
        rows, columns = np.indices(self.shape)
        return np.stack(
            [self.origin[0] + (columns + 0.5) * self.cell, self.origin[1] + (rows + 0.5) * self.cell], axis=-1
        )

    def cells_at(self, points: ArrayLike) -> NDArray[np.int64]:
        """(...) numbers of the cells, in C order, at points (..., 2) in metres; the nearest ones beyond the border."""
        places = np.floor((np.asarray(points, np.float64) - self.origin) / self.cell)
        column, row = np.moveaxis(np.clip(places, 0, np.array(self.shape[::-1]) - 1).astype(np.int64), -1, 0)
        return np.asarray(row * self.shape[1] + column)

    def border(self) -> NDArray[np.bool_]:
        """(rows, columns) cells on the border of the rectangle."""
        border = np.ones(self.shape, bool)
        border[1:-1, 1:-1] = False
        return border
