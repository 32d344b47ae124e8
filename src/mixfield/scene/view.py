"""A view of the ground: the bounding box of a person in each cell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays, _pictures
from mixfield.errors import MixfieldError


@dataclass(frozen=True, eq=False)
class View:
    """Image size of a camera, and the bounding box of a person in each cell of the ground.

    Attributes
    ----------
    width, height : of the image in pixels.
    boxes : (n, 4) integers left, top, right, bottom of the cells in C order, right and bottom exclusive; boxes are
        clipped to the image, and an empty one means that the cell is not visible.
    name : for messages and file names.
    observed : (height, width) share of each pixel in which people can be seen: 0 where something that never moves hides
        them, such as a sign.  These pixels are unobserved, not background.  None for 1 everywhere.
    sizes : (n, H, 4) boxes of people of several heights, each in the next; None for those of ``boxes`` alone.
    """

    width: int
    height: int
    boxes: NDArray[np.int32]
    name: str = ""
    observed: NDArray[np.float64] | None = None
    sizes: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        _arrays.at_least("width", self.width, 1)
        _arrays.at_least("height", self.height, 1)
        boxes = np.asarray(self.boxes)
        if boxes.ndim != 2 or boxes.shape[1] != 4 or boxes.dtype.kind not in "iu":
            raise MixfieldError(f"boxes must be (n, 4) integers, got {boxes.shape} of dtype {boxes.dtype}")
        if self.observed is not None:
            share = np.asarray(self.observed, np.float64)
            _arrays.check_shape("observed", share, (self.height, self.width), "= (height, width) of the view")
            if not ((share >= 0) & (share <= 1)).all():
                raise MixfieldError("observed must hold shares in [0, 1]")
            object.__setattr__(self, "observed", _arrays.frozen(share.copy()))
        limits = np.array([self.width, self.height, self.width, self.height])
        clipped = np.clip(boxes, 0, limits).astype(np.int32)
        every = clipped[:, None] if self.sizes is None else np.clip(self.sizes, 0, limits).astype(np.int32)
        hidden = (every[..., 2:] <= every[..., :2]).any((1, 2))
        clipped[hidden], every[hidden] = 0, 0
        object.__setattr__(self, "boxes", _arrays.frozen(clipped))
        object.__setattr__(self, "sizes", None if self.sizes is None else _arrays.frozen(every))

    def __repr__(self) -> str:
        name = f"{self.name!r}, " if self.name else ""
        return f"View({name}{self.width} x {self.height} pixels, {int(self.visible.sum())} of {len(self.boxes)} cells)"

    @cached_property
    def visible(self) -> NDArray[np.bool_]:
        """(n,) cells in which a person is visible."""
        return np.asarray(self.boxes[:, 2] > self.boxes[:, 0])

    @cached_property
    def rectangles(self) -> NDArray[np.int64]:
        """(V, H, 4) boxes of people of each height in the visible cells."""
        return (self.boxes[:, None] if self.sizes is None else self.sizes)[self.visible].astype(np.int64)

    @cached_property
    def edges(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows and columns where visible boxes begin or end; those of the first pixel if nothing is visible."""
        if not self.visible.any():
            return np.array([0, 1]), np.array([0, 1])
        return np.unique(self.rectangles[..., 1::2]), np.unique(self.rectangles[..., ::2])

    @cached_property
    def corners(self) -> NDArray[np.uint32]:
        """(V, H, 4) corners of ``rectangles``, as indices in the grid of ``edges``: top left, top right, bottom."""
        rows, columns = self.edges
        top, bottom = np.moveaxis(np.searchsorted(rows, self.rectangles[..., 1::2]), -1, 0) * len(columns)
        left, right = np.moveaxis(np.searchsorted(columns, self.rectangles[..., ::2]), -1, 0)
        return np.stack([top + left, top + right, bottom + left, bottom + right], axis=-1).astype(np.uint32)

    @cached_property
    def person_weights(self) -> NDArray[np.float64]:
        """(height, width) one over the area of a person at each pixel, 0 outside of all boxes of people.

        A pixel is in the boxes of many cells: the area is the geometric mean of theirs.
        """
        left, top, right, bottom = self.rectangles.reshape(-1, 4).T
        logarithm = np.log(np.maximum((right - left) * (bottom - top), 1))
        sums = np.zeros((2, self.height + 1, self.width + 1))
        for row, column, sign in ((top, left, 1), (top, right, -1), (bottom, left, -1), (bottom, right, 1)):
            np.add.at(sums[0], (row, column), sign)
            np.add.at(sums[1], (row, column), sign * logarithm)
        boxes, total = np.rint(sums[0].cumsum(0).cumsum(1)), sums[1].cumsum(0).cumsum(1)
        inverse = np.where(boxes > 0, np.exp(-total / np.maximum(boxes, 1.0)), 0.0)
        return np.asarray(inverse[:-1, :-1])

    def foreground(self, mask: ArrayLike, reduction: int = 1) -> NDArray[np.float64]:
        """(H, W) a mask in [0, 1] at the size of the view divided by ``reduction``, see `Occupancy`."""
        name = f"mask of view {self.name!r}" if self.name else "mask"
        return _pictures.foreground(mask, (self.height, self.width), reduction, name)

    def person_share(self) -> float:
        """Area of a person as a share of the image, the median over the visible cells (0 if there is none)."""
        seen = self.boxes[self.visible].astype(np.float64)
        if len(seen) == 0:
            return 0.0
        return float(np.median((seen[:, 2] - seen[:, 0]) * (seen[:, 3] - seen[:, 1])) / (self.width * self.height))

    def person_height(self) -> float:
        """Median height in pixels of a visible person (0 if there is none)."""
        seen = self.boxes[self.visible]
        return float(np.median(seen[:, 3] - seen[:, 1])) if len(seen) else 0.0

    def grown(self, sides: float, top: float, bottom: float) -> View:
        """The view with boxes larger (or smaller) at both sides, the top and the bottom, in shares of their height."""
        height = (self.boxes[:, 3:] - self.boxes[:, 1:2]).astype(np.float64)
        margins = height * np.array([-sides, -top, sides, bottom])
        sizes = None if self.sizes is None else np.rint(self.sizes + margins[:, None]).astype(np.int32)
        boxes = np.where(self.visible[:, None], np.rint(self.boxes + margins), 0).astype(np.int32)
        return View(self.width, self.height, boxes, self.name, self.observed, sizes)

    def reduced(self, factor: int) -> View:
        """The view in an image ``factor`` times smaller, including incomplete pixels at the right and bottom."""
        if factor == 1:
            return self

        def small(boxes: NDArray[np.int32]) -> NDArray[np.int32]:
            corners = np.floor(boxes / factor + 0.5).astype(np.int32)
            least = corners[..., :2] + (boxes[..., 2:3] > boxes[..., :1])
            return np.concatenate([corners[..., :2], np.maximum(corners[..., 2:], least)], axis=-1)

        observed = None if self.observed is None else _arrays.block_means(self.observed, factor)
        sizes = None if self.sizes is None else small(self.sizes)
        width, height = -(-self.width // factor), -(-self.height // factor)
        return View(width, height, small(self.boxes), self.name, observed, sizes)
