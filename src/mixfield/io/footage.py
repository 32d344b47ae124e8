"""Footage of several cameras, frame by frame: videos, numbered images, or masks ready-made."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mixfield.errors import FileFormatError, MixfieldError
from mixfield.io import opencv
from mixfield.io.background import Background

Image = NDArray[np.uint8]

_PATTERN = re.compile(r"(?:[^{}]|\{\{|\}\}|\{frame(?::0?[0-9]{1,2}d?)?\})*")
LEARNED = 200  # frames from which a background is learned


class Pictures(Protocol):
    """Numbered images of one camera."""

    def __len__(self) -> int:
        """How many there are."""

    def frame(self, number: int, /) -> Image:
        """(H, W) or (H, W, 3) image."""

    def file(self, number: int, /) -> Path:
        """Where it comes from."""


@dataclass
class Video:
    """A video file; frames are numbered from 0."""

    path: Path
    _capture: Any = field(default=None, repr=False)
    _next: int = 0

    @cached_property
    def _length(self) -> int:
        capture = self._open()
        return int(capture.get(opencv.library().CAP_PROP_FRAME_COUNT))

    def __len__(self) -> int:
        return self._length

    def frame(self, number: int) -> Image:
        if self._capture is None or number < self._next:
            self._capture, self._next = self._open(), 0
        while self._next < number and self._capture.grab():  # seeking is not exact in every format
            self._next += 1
        fine, image = self._capture.read()
        if not fine:
            raise MixfieldError(f"{self.path} has no frame {number}; it ends after {self._next} frames")
        self._next += 1
        return np.asarray(image)

    def file(self, number: int) -> Path:  # noqa: ARG002
        return self.path

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_capture": None, "_next": 0}  # an open video stays in its process

    def _open(self) -> Any:
        if not self.path.is_file():
            raise FileNotFoundError(f"{self.path} does not exist")
        capture = opencv.library().VideoCapture(str(self.path))
        if not capture.isOpened():
            raise FileFormatError(f"{self.path} is not a video that OpenCV can read")
        return capture


@dataclass(frozen=True)
class Images:
    """Image files whose names hold the frame number: ``{frame}``, or ``{frame:04d}`` with leading zeros."""

    folder: Path
    pattern: str

    @cached_property
    def _numbers(self) -> list[int]:
        """Numbers of the frames from the first to the last before a gap."""
        first = next((k for k in range(100_000) if self.file(k).is_file()), None)
        if first is None:
            raise FileNotFoundError(f"no file {self.folder / self.pattern} exists, for any frame below 100000")
        step = next((k for k in range(1, 1000) if self.file(first + k).is_file()), 1)
        last = first
        while self.file(last + step).is_file():
            last += step
        return list(range(first, last + 1, step))

    def file(self, number: int) -> Path:
        return self.folder / self.pattern.format(frame=number)

    def __len__(self) -> int:
        return self._numbers[-1] + 1

    def frame(self, number: int) -> Image:
        return opencv.read_image(self.file(number))

    def some(self, count: int) -> list[int]:
        """At most ``count`` of the numbers there are, evenly spread."""
        spread = np.linspace(0, len(self._numbers) - 1, min(count, len(self._numbers)))
        return [self._numbers[k] for k in np.unique(spread.round().astype(int))]


def pictures(folder: Path, name: str) -> Pictures:
    """A video, or a pattern of image files."""
    if "{" not in name:
        return Video(folder / name)
    if not _PATTERN.fullmatch(name):
        raise FileFormatError(f"{name!r} must hold the frame as {{frame}} or {{frame:04d}}, and no other braces")
    return Images(folder, name)


@dataclass
class Camera:
    """What one camera recorded: pictures from which masks are computed, or masks."""

    footage: Pictures | None
    masks: Pictures | None
    method: str = "MOG2"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_background"}  # learned in each process

    @cached_property
    def _background(self) -> Background:
        assert self.footage is not None
        if isinstance(self.footage, Images):
            numbers = self.footage.some(LEARNED)
        else:
            numbers = np.unique(np.linspace(0, len(self.footage) - 1, LEARNED).round().astype(int)).tolist()
        return Background(_readable(self.footage, numbers), self.method)

    def mask(self, frame: int) -> Image:
        """The given mask of a frame, or the computed one."""
        if self.masks is not None:
            return self.masks.frame(frame)
        background = self._background
        assert self.footage is not None
        return background.mask(self.footage.frame(frame))

    def picture(self, frame: int) -> Image:
        """What to draw on: the footage, or else the mask."""
        return self.mask(frame) if self.footage is None else self.footage.frame(frame)

    def files(self, frame: int) -> list[Path]:
        """What the mask of a frame is made from."""
        source = self.masks if self.masks is not None else self.footage
        return [] if source is None else [source.file(frame)]

    def __len__(self) -> int:
        source = self.masks if self.masks is not None else self.footage
        return 0 if source is None else len(source)


def _readable(footage: Pictures, numbers: list[int]) -> Iterator[Image]:
    """The frames that can be read: a video that was cut off says that it is longer than it is."""
    for place, number in enumerate(numbers):
        try:
            yield footage.frame(number)
        except MixfieldError:
            if place == 0:
                raise
            return


@dataclass(frozen=True)
class Footage:
    """The recordings of all cameras of a scene, frame numbers agreeing."""

    cameras: tuple[Camera, ...]

    def masks(self, frame: int) -> list[Image]:
        """One mask per camera."""
        return [camera.mask(frame) for camera in self.cameras]

    def pictures(self, frame: int) -> list[Image]:
        """One picture per camera."""
        return [camera.picture(frame) for camera in self.cameras]

    def files(self, frame: int) -> tuple[Path, ...]:
        """What the masks of a frame are made from."""
        return tuple(file for camera in self.cameras for file in camera.files(frame))

    def __len__(self) -> int:
        """Frames that every camera has."""
        return min(len(camera) for camera in self.cameras)
