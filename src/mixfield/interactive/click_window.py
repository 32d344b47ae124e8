"""The pixels around a click that may change with it, and how deep they lie in the segment that was shown."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt, label

from mixfield.interactive.corrections import EIGHT, Correction

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

NARROWEST, WIDEST = 40, 160  # pixels from the click to the border of the window
WIDTH = 6.0  # the same, in depths of the click


class Window(NamedTuple):
    """The pixels around a click that may change with it.

    Attributes
    ----------
    rows, columns : of the window in the picture.
    inside : (h, w) pixels of the shown segment of the click.
    place : row and column of the click in the window.
    """

    rows: slice
    columns: slice
    inside: Bools
    place: tuple[int, int]

    @property
    def part(self) -> tuple[slice, slice]:
        """Index of the window in a map of the picture."""
        return self.rows, self.columns

    @property
    def distances(self) -> Floats:
        """(h, w) pixels from the click."""
        rows, columns = np.ogrid[: self.inside.shape[0], : self.inside.shape[1]]
        return np.asarray(np.hypot(rows - self.place[0], columns - self.place[1]))


def click_window(last: Correction) -> tuple[Window, Floats, float]:
    """The window of a click, distances (h, w) of its pixels from the border of the shown segment, and of the click."""
    other = np.pad(last.shown != last.label, 1)[
        max(last.row - WIDEST, 0) : last.row + WIDEST + 3, max(last.column - WIDEST, 0) : last.column + WIDEST + 3
    ]
    depths = distance_transform_edt(other)
    row, column = last.row + 1 - max(last.row - WIDEST, 0), last.column + 1 - max(last.column - WIDEST, 0)
    depth = max(float(depths[row, column]), 1.0)
    half = int(np.clip(WIDTH * depth, NARROWEST, WIDEST))
    top, left = max(last.row - half, 0), max(last.column - half, 0)
    bottom, right = (
        min(at + half + 1, size) for at, size in zip((last.row, last.column), last.shown.shape, strict=True)
    )
    rows, columns, place = slice(top, bottom), slice(left, right), (last.row - top, last.column - left)
    inside = around(last.shown[rows, columns] != last.label, place)
    shift = row - last.row, column - last.column
    depths = depths[top + shift[0] : bottom + shift[0], left + shift[1] : right + shift[1]]
    return Window(rows, columns, inside, place), depths, depth


def around(inside: Bools, place: tuple[int, int]) -> Bools:
    """The connected set of pixels ``inside`` with that of a click."""
    inside = inside.copy()
    inside[place] = True
    parts, _ = label(inside, EIGHT)
    return np.asarray(parts == parts[place])
