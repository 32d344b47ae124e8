"""The frames of a video, a folder of images or a video file, with the scores of each in a second folder."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from mixfield.errors import MixfieldError
from mixfield.io.folders import by_stem
from mixfield.io.frame_source import VideoFile
from mixfield.io.images import SUFFIXES, read_image
from mixfield.io.scores import SUFFIXES as SCORE_SUFFIXES

Picture = NDArray[Any]


@dataclass(frozen=True)
class Frame:
    """Where a frame is stored.

    Attributes
    ----------
    name : of the image without suffix, or the number in a video file.
    number : index in the sequence.
    picture : path of the image, or of the video file.
    scores : path of the scores; None if they are missing.
    """

    name: str
    number: int
    picture: Path
    scores: Path | None


@dataclass(frozen=True)
class ScoredFrames:
    """Frames in order, each with the scores of the same name.

    Attributes
    ----------
    source : a folder of images, or a video file.
    scores : a folder of ``.npy``, ``.npz`` or ``.png`` files; those of a video file are named by the number of the
        frame, 0, 1, ..., with any number of leading zeros.
    """

    source: Path
    scores: Path

    def __post_init__(self) -> None:
        if not self.source.exists():
            raise MixfieldError(f"{self.source} does not exist; give a folder of images or a video file")
        frames = self.frames()
        if not frames:
            raise MixfieldError(f"{self.source} has no images ({', '.join(SUFFIXES)})")
        if all(frame.scores is None for frame in frames):
            raise MixfieldError(f"no frame of {self.source} has scores of its name in {self.scores}")

    def frames(self) -> list[Frame]:
        """All frames in order, also those without scores."""
        scores = self._scores_by_name()
        if self.source.is_dir():
            pictures = {name: files[0] for name, files in sorted(by_stem(self.source, SUFFIXES).items())}
        else:
            pictures = {str(number): self.source for number in range(len(self._video))}
        return [Frame(name, t, path, scores.get(name)) for t, (name, path) in enumerate(pictures.items())]

    def picture(self, frame: Frame) -> Picture:
        """(H, W) or (H, W, 3) image of a frame, red first."""
        return read_image(frame.picture) if self.source.is_dir() else self._video.frame(frame.number)[..., ::-1]

    @cached_property
    def _video(self) -> VideoFile:
        return VideoFile(self.source)

    def _scores_by_name(self) -> dict[str, Path]:
        files = {stem: paths[0] for stem, paths in by_stem(self.scores, SCORE_SUFFIXES).items()}
        if self.source.is_dir():
            return files
        return {str(int(stem)): path for stem, path in files.items() if stem.isdecimal()}
