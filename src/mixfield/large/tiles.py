"""Tiles of a large segmentation: the image with the colours of its labels, in levels of half the size each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield._pictures import intensities
from mixfield.apps.blocks import Window
from mixfield.large.axes import PixelArray
from mixfield.reports.palette import label_colors

Bytes = NDArray[np.uint8]

TILE = 256  # pixels of a side
OPACITY = 0.45  # of the colours of labels on the image


@dataclass(frozen=True)
class Tile:
    """One tile: its level (0 is one tile for all), its row and column, and its colours (h, w, 3)."""

    level: int
    row: int
    column: int
    pixels: Bytes


@dataclass(frozen=True, eq=False)
class Pyramid:
    """The tiles of a labelled image.

    Attributes
    ----------
    labels : (H, W) source of the labels.
    image : over the same pixels; None to show labels alone.
    nodata : value of pixels without a label.
    most : largest number of tiles; the finest levels are left out.
    """

    labels: PixelArray
    image: PixelArray | None
    nodata: int
    most: int

    @property
    def step(self) -> int:
        """Pixels of the image for each pixel of the finest level, a power of two."""
        step = 1
        while self._count(step) > self.most:
            step *= 2
        return step

    @property
    def levels(self) -> int:
        """Number of levels."""
        levels, size = 1, max(self.labels.shape) / self.step
        while size > TILE:
            levels, size = levels + 1, size / 2
        return levels

    def tiles(self) -> Iterator[Tile]:
        """All tiles, each after the four that it is made of: at most four of a level are in memory."""
        yield from self._below(0, 0, 0)

    def _below(self, level: int, row: int, column: int) -> Iterator[Tile]:
        """The tiles below one of them, and that tile last."""
        if level == self.levels - 1:
            yield Tile(level, row, column, self._read(row, column))
            return
        parts: dict[tuple[int, int], Bytes] = {}
        for down, right in ((0, 0), (0, 1), (1, 0), (1, 1)):
            if not self._exists(level + 1, 2 * row + down, 2 * column + right):
                continue
            for tile in self._below(level + 1, 2 * row + down, 2 * column + right):
                yield tile
            parts[down, right] = tile.pixels
        yield Tile(level, row, column, _half(parts))

    def _exists(self, level: int, row: int, column: int) -> bool:
        scale = self.step * TILE * 2 ** (self.levels - 1 - level)
        return row * scale < self.labels.shape[0] and column * scale < self.labels.shape[1]

    def _count(self, step: int) -> float:
        """Tiles of all levels, about."""
        height, width = self.labels.shape
        finest = -(-height // (step * TILE)) * -(-width // (step * TILE))
        return finest if finest == 1 else 4 / 3 * finest

    def _read(self, row: int, column: int) -> Bytes:
        """A tile of the finest level."""
        size, step = self.step * TILE, self.step
        window: Window = tuple(
            slice(place * size, min(length, (place + 1) * size))
            for place, length in zip((row, column), self.labels.shape, strict=True)
        )
        labels = np.asarray(self.labels.read(window)).reshape([along.stop - along.start for along in window])
        labels = labels[::step, ::step]
        colours = np.where(
            (labels == self.nodata)[..., None], np.uint8(255), label_colors()[labels.astype(np.intp) % 256]
        )
        if self.image is None:
            return np.asarray(colours, np.uint8)
        picture = _colours(self.image.read(window)[::step, ::step])
        return np.asarray(np.where((labels == 0)[..., None], picture, _blend(picture, colours)), np.uint8)


def _colours(pixels: NDArray[np.generic]) -> NDArray[np.float32]:
    """(h, w, 3) from 0 to 255."""
    shown = intensities(np.nan_to_num(pixels) if pixels.dtype.kind == "f" else pixels)
    return shown[..., :3] if shown.shape[-1] >= 3 else np.repeat(shown[..., :1], 3, axis=-1)


def _blend(picture: NDArray[np.float32], colours: NDArray[np.generic]) -> NDArray[np.float32]:
    return np.asarray((1 - OPACITY) * picture + OPACITY * colours.astype(np.float32), np.float32)


def _half(parts: dict[tuple[int, int], Bytes]) -> Bytes:
    """Every second pixel of up to four tiles side by side."""
    rows = []
    for down in (0, 1):
        row = [parts[down, right] for right in (0, 1) if (down, right) in parts]
        if row:
            rows.append(np.concatenate(row, axis=1))
    return np.ascontiguousarray(np.concatenate(rows)[::2, ::2])
