"""Numbered images of one camera: a video file, or image files with the number in their name."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, takewhile
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mixfield import _files
from mixfield.errors import FileFormatError, MixfieldError
from mixfield.io import opencv
from mixfield.io.images import SUFFIXES

Image = NDArray[np.uint8]

_PATTERN = re.compile(r"(?:[^{}]|\{\{|\}\}|\{frame(?::0?[0-9]{1,2}d?)?\})*")
IMAGE_SUFFIXES = tuple(suffix for suffix in SUFFIXES if suffix != ".gif")  # which may be a video
MIN_RATE, MAX_RATE = 0.01, 1000.0  # frames per second; files without a rate state 0 or NaN
MAX_FIRST, MAX_STEP = 100_000, 1000  # of the numbers of image files

_SIGNATURES = re.compile(  # AVI, MP4 and MOV, Matroska, MPEG, WMV, FLV, Ogg, and bare streams of MPEG and JPEG
    rb"RIFF....AVI|....(?:ftyp|moov|mdat|free|skip|wide|pnot)|\x1a\x45\xdf\xa3|\0\0\0?\x01|\x47.{187}\x47|"
    rb".{4}\x47.{191}\x47|\x30\x26\xb2\x75|FLV\x01|OggS|\xff\xd8\xff|YUV4MPEG2",
    re.DOTALL,
)
_SIGNATURE_LENGTH = 197  # bytes


class FrameSource(Protocol):
    """Numbered images of one camera."""

    def __len__(self) -> int:
        """Largest frame number plus one."""

    def frame(self, number: int, /) -> Image:
        """(H, W) or (H, W, 3) image, blue first."""

    def file(self, number: int, /) -> Path:
        """The file that contains a frame."""

    def sample(self, n: int, /) -> list[int]:
        """At most ``n`` frame numbers, evenly spaced over the recording."""

    @property
    def frame_rate(self) -> float | None:
        """Frames per second, if the recording says so."""


@dataclass
class VideoFile:
    """A video file; frames are numbered from 0."""

    path: Path
    _capture: Any = field(default=None, repr=False)
    _next: int = 0

    @cached_property
    def _length(self) -> int:
        length = self._open().get(opencv.library().CAP_PROP_FRAME_COUNT)
        if not 0 < length <= os.path.getsize(self.path):  # a frame has at least one byte
            raise FileFormatError(f"{self.path} is a damaged video: it cannot have {length:g} frames")
        return int(length)

    def __len__(self) -> int:
        return self._length

    @cached_property
    def frame_rate(self) -> float | None:
        """Frames per second that the file states."""
        rate = float(self._open().get(opencv.library().CAP_PROP_FPS))
        return rate if MIN_RATE <= rate <= MAX_RATE else None

    def frame(self, number: int) -> Image:
        """(H, W, 3) image, blue first; frames in order are read without seeking."""
        if self._capture is None or number < self._next:
            self._capture, self._next = self._open(), 0
        while self._next < number and self._capture.grab():  # seeking is not exact in every format
            self._next += 1
        success, image = self._capture.read()
        if not success:
            raise MixfieldError(f"{self.path} has no frame {number}; it ends after {self._next} frames")
        self._next += 1
        return np.asarray(image)

    def file(self, number: int) -> Path:  # noqa: ARG002
        """The video file."""
        return self.path

    def sample(self, n: int) -> list[int]:
        """At most ``n`` frame numbers, evenly spaced over the file."""
        return np.unique(np.linspace(0, len(self) - 1, n).round().astype(int)).tolist()

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_capture": None, "_next": 0}  # an open video cannot be pickled

    def _open(self) -> Any:
        if not self.path.exists():
            raise FileNotFoundError(f"{self.path} does not exist")
        with _files.open_file(self.path) as stream:
            is_video = _SIGNATURES.match(stream.read(_SIGNATURE_LENGTH))  # a playlist could name other files
        capture = opencv.library().VideoCapture(str(self.path)) if is_video else None
        if capture is None or not capture.isOpened():
            raise FileFormatError(f"{self.path} is not a video that OpenCV can read")
        return capture


@dataclass(frozen=True)
class ImageSequence:
    """Image files whose names contain the frame number: ``{frame}``, or ``{frame:04d}`` with leading zeros."""

    folder: Path
    pattern: str
    frame_rate: float | None = None

    @cached_property
    def _numbers(self) -> list[int]:
        """Frame numbers from the first to the last before a gap; their step is that of the first two."""
        first = next((k for k in range(MAX_FIRST) if self.file(k).is_file()), None)
        if first is None:
            raise FileNotFoundError(f"no file {self.folder / self.pattern} exists, for any frame below {MAX_FIRST}")
        step = next((k for k in range(1, MAX_STEP) if self.file(first + k).is_file()), 1)
        return list(takewhile(lambda number: self.file(number).is_file(), count(first, step)))

    def file(self, number: int) -> Path:
        """The file of a frame."""
        return self.folder / self.pattern.format(frame=number)

    def __len__(self) -> int:
        return self._numbers[-1] + 1

    def frame(self, number: int) -> Image:
        """(H, W) or (H, W, 3) image, blue first."""
        return opencv.read_image(self.file(number))

    def sample(self, n: int) -> list[int]:
        """At most ``n`` of the existing frame numbers, evenly spaced."""
        indices = np.linspace(0, len(self._numbers) - 1, min(n, len(self._numbers)))
        return [self._numbers[k] for k in np.unique(indices.round().astype(int))]


def open_frames(folder: Path, name: str) -> VideoFile | ImageSequence:
    """A video file of a folder, or with ``{frame}`` in its name a sequence of image files."""
    if "{frame" in name and _PATTERN.fullmatch(name):
        return ImageSequence(folder, name)
    if "{" in name or "%" in name or Path(name).suffix.lower() in IMAGE_SUFFIXES:
        raise FileFormatError(
            f"{name!r} must hold the frame as {{frame}} or {{frame:04d}}, and no other braces or %d; "
            "without it, it must be a video file"
        )
    return VideoFile(folder / name)
