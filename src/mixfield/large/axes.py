"""Which axes of an image and of its scores are positions, and which one holds channels or labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.apps.blocks import Window
from mixfield.errors import MixfieldError
from mixfield.large.sources import Source


@dataclass(frozen=True)
class PixelArray:
    """A source with its axis of channels, if it has one."""

    source: Source
    channel_axis: int | None

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the positions: (H, W) or (D, H, W)."""
        return tuple(length for axis, length in enumerate(self.source.shape) if axis != self.channel_axis)

    @property
    def channels(self) -> int | None:
        """Number of channels or labels; None without such an axis."""
        return None if self.channel_axis is None else self.source.shape[self.channel_axis]

    def read(self, window: Window) -> NDArray[Any]:
        """The pixels of a window, channels last."""
        if self.channel_axis is None:
            return self.source.read(window)
        full = (*window[: self.channel_axis], slice(0, self.channels), *window[self.channel_axis :])
        return np.moveaxis(self.source.read(full), self.channel_axis, -1)


def matched(image: Source, scores: Source) -> tuple[PixelArray, PixelArray]:
    """Image and scores over the same pixels: labels last, or first where only that fits."""
    for labels in _candidates(scores):
        for picture in _candidates(image):
            if picture.shape == labels.shape and len(picture.shape) in (2, 3):
                return picture, labels
    raise MixfieldError(
        "scores must have shape (H, W, L) or (D, H, W, L) with the height and width of the image, labels last or "
        f"first, got {scores.shape} for an image of shape {image.shape}; scores are not resized block by block"
    )


def _candidates(source: Source) -> Iterator[PixelArray]:
    """Channels last, none, first; or what the file says."""
    axes = (source.channel_axis,) if source.channel_axis is not None else (len(source.shape) - 1, None, 0)
    for axis in axes:
        yield PixelArray(source, axis)
