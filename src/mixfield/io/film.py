"""Videos in and out, frame by frame: a folder of images or a video file with scores beside; a film of two pictures."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.errors import MixfieldError
from mixfield.io import opencv
from mixfield.io.folders import by_stem
from mixfield.io.footage import Video
from mixfield.io.images import SUFFIXES, read_image
from mixfield.io.scores import SUFFIXES as SCORES

Picture = NDArray[Any]


@dataclass(frozen=True)
class Frame:
    """Where a frame is.

    Attributes
    ----------
    name : of the image without suffix, or the number in a video.
    number : its place.
    picture : the image, or the whole video.
    scores : None if they are missing, and with them the frame.
    """

    name: str
    number: int
    picture: Path
    scores: Path | None


@dataclass(frozen=True)
class ScoredFrames:
    """Frames in order, each with the scores of the same name; those of a video file are named by their number.

    Attributes
    ----------
    source : a folder of images, or a video file.
    scores : a folder of ``.npy``, ``.npz`` or ``.png`` files; those of a video are called 0, 1, ... with any number of
        zeros before.
    """

    source: Path
    scores: Path
    _video: list[Video] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        if not self.source.exists():
            raise MixfieldError(f"{self.source} does not exist; give a folder of images or a video file")
        frames = self.frames()
        if not frames:
            raise MixfieldError(f"{self.source} has no images ({', '.join(SUFFIXES)})")
        if all(frame.scores is None for frame in frames):
            raise MixfieldError(f"no frame of {self.source} has scores of its name in {self.scores}")

    def frames(self) -> list[Frame]:
        """All frames in order, those without scores too."""
        evidence = self._evidence()
        if self.source.is_dir():
            pictures = {name: files[0] for name, files in sorted(by_stem(self.source, SUFFIXES).items())}
        else:
            pictures = {str(number): self.source for number in range(len(self._file()))}
        return [Frame(name, t, file, evidence.get(name)) for t, (name, file) in enumerate(pictures.items())]

    def picture(self, frame: Frame) -> Picture:
        """(H, W) or (H, W, 3) image of a frame, colours red first."""
        return read_image(frame.picture) if self.source.is_dir() else self._file().frame(frame.number)[..., ::-1]

    def _file(self) -> Video:
        if not self._video:
            self._video.append(Video(self.source))
        return self._video[0]

    def _evidence(self) -> dict[str, Path]:
        """Files of scores by the name of their frame."""
        files = {stem: paths[0] for stem, paths in by_stem(self.scores, SCORES).items()}
        if self.source.is_dir():
            return files
        return {str(int(stem)): path for stem, path in files.items() if stem.isdecimal()}


@dataclass
class FilmWriter:
    """Writes an MP4 file, opened at the first picture and in its place when it is closed."""

    path: Path
    rate: float
    _file: Any = field(default=None, repr=False)

    def add(self, picture: NDArray[np.uint8]) -> None:
        """One more picture (H, W, 3), colours red first."""
        cv2 = opencv.library()
        even = picture[: picture.shape[0] // 2 * 2, : picture.shape[1] // 2 * 2]  # as the format wants it
        if self._file is None:
            size = (even.shape[1], even.shape[0])
            self._file = cv2.VideoWriter(str(self._draft), cv2.VideoWriter_fourcc(*"mp4v"), self.rate, size)
            if not self._file.isOpened():
                raise MixfieldError(f"cannot write the film {self.path}")
        self._file.write(np.ascontiguousarray(even[..., ::-1]))

    def close(self) -> None:
        """Finish the file."""
        if self._file is not None:
            self._file.release()
            self._draft.replace(self.path)

    def abandon(self) -> None:
        """Leave no file but one that was there before."""
        if self._file is not None:
            self._file.release()
            self._draft.unlink()

    @property
    def _draft(self) -> Path:
        return self.path.with_name(f".{self.path.name}")
