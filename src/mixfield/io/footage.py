"""Footage of several cameras: pictures, and foreground masks that are given or computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.errors import MixfieldError
from mixfield.io.background import Background
from mixfield.io.frame_source import FrameSource

Image = NDArray[np.uint8]

BACKGROUND_FRAMES = 200  # from which a background is learned


@dataclass
class CameraFootage:
    """The recording of one camera.

    Attributes
    ----------
    pictures : None if only masks were recorded.
    masks : foreground masks; None if they are computed from the pictures.
    method : of background subtraction, see `Background`.
    """

    pictures: FrameSource | None
    masks: FrameSource | None
    method: str = "MOG2"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_background"}  # it cannot be pickled

    @cached_property
    def _background(self) -> Background:
        assert self.pictures is not None
        return Background(_readable(self.pictures, self.pictures.sample(BACKGROUND_FRAMES)), self.method)

    def mask(self, frame: int) -> Image:
        """(H, W) mask of a frame, given or computed."""
        if self.masks is not None:
            return self.masks.frame(frame)
        background = self._background
        assert self.pictures is not None
        return background.mask(self.pictures.frame(frame))

    def picture(self, frame: int) -> Image:
        """(H, W) or (H, W, 3) picture of a frame, blue first; the mask if there are no pictures."""
        return self.mask(frame) if self.pictures is None else self.pictures.frame(frame)

    def files(self, frame: int) -> list[Path]:
        """The files from which the mask of a frame is made."""
        return [] if self._mask_source is None else [self._mask_source.file(frame)]

    def __len__(self) -> int:
        return 0 if self._mask_source is None else len(self._mask_source)

    @property
    def _mask_source(self) -> FrameSource | None:
        return self.pictures if self.masks is None else self.masks


def _readable(source: FrameSource, numbers: list[int]) -> Iterator[Image]:
    """Frames until one cannot be read: the header of a truncated video file gives its original length."""
    for index, number in enumerate(numbers):
        try:
            yield source.frame(number)
        except MixfieldError:
            if index == 0:
                raise
            return


@dataclass(frozen=True)
class Footage:
    """The recordings of all cameras of a scene; a frame number is the same moment in all of them.

    Attributes
    ----------
    cameras : their recordings.
    rate : frames per second; None for what the recordings state.
    """

    cameras: tuple[CameraFootage, ...]
    rate: float | None = None

    @property
    def frame_rate(self) -> float | None:
        """Frames per second: ``rate``, else that of the first video file that states one; None if unknown."""
        sources = (source for camera in self.cameras for source in (camera.pictures, camera.masks))
        stated = (None if source is None else source.frame_rate for source in sources)
        return self.rate or next((rate for rate in stated if rate), None)

    def masks(self, frame: int) -> list[Image]:
        """One mask per camera."""
        return [camera.mask(frame) for camera in self.cameras]

    def pictures(self, frame: int) -> list[Image]:
        """One picture per camera."""
        return [camera.picture(frame) for camera in self.cameras]

    @property
    def computes_masks(self) -> bool:
        """Whether the masks of some camera are made from its pictures."""
        return any(camera.masks is None for camera in self.cameras)

    def files(self, frame: int) -> tuple[Path, ...]:
        """The files from which the masks of a frame are made."""
        return tuple(file for camera in self.cameras for file in camera.files(frame))

    def __len__(self) -> int:
        """Number of frames that every camera has."""
        return min(len(camera) for camera in self.cameras)
