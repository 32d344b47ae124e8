"""The ground plane as a grid of cells, in metres."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.errors import MixfieldError

MOST = 10_000_000  # cells: a square kilometre at 32 cm


@dataclass(frozen=True)
class Ground:
    """A rectangle of the ground plane, cut into square cells.

    Attributes
    ----------
    shape : rows and columns; rows run along y, columns along x.
    cell : side of a cell in metres.
    origin : x and y in metres of the corner of cell (0, 0), the smallest of the rectangle.
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
        if self.n > MOST:
            rows, columns = self.shape
            raise MixfieldError(
                f"the ground has {rows} x {columns} cells, more than {MOST}; give a smaller area or larger cells"
            )

    @property
    def n(self) -> int:
        """Number of cells."""
        return self.shape[0] * self.shape[1]

    def centres(self) -> NDArray[np.float64]:
        """(rows, columns, 2) x and y in metres of the middle of each cell."""
        rows, columns = np.indices(self.shape)
        return np.stack(
            [self.origin[0] + (columns + 0.5) * self.cell, self.origin[1] + (rows + 0.5) * self.cell], axis=-1
        )

    def border(self) -> NDArray[np.bool_]:
        """(rows, columns) cells on the rim."""
        rim = np.ones(self.shape, bool)
        rim[1:-1, 1:-1] = False
        return rim
