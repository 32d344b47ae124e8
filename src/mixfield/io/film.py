"""Videos in and out, frame by frame: a folder of images or a video file with scores beside; a film of two pictures."""

from __future__ import annotations

from collections.abc import Iterator
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
from mixfield.io.scores import read_scores

Picture = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Frame:
    """One frame; image and scores are None if one of them is missing."""

    name: str
    image: Picture | None
    scores: NDArray[Any] | None


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
        if not len(self):
            raise MixfieldError(f"{self.source} has no images ({', '.join(SUFFIXES)})")
        if not any(name in self._evidence() for name in self.names()):
            raise MixfieldError(f"no frame of {self.source} has scores of its name in {self.scores}")

    def names(self) -> list[str]:
        """Of the frames, in order."""
        if self.source.is_dir():
            return sorted(by_stem(self.source, SUFFIXES))
        return [str(number) for number in range(len(self._file()))]

    def __len__(self) -> int:
        return len(self.names())

    def __iter__(self) -> Iterator[Frame]:
        evidence = self._evidence()
        pictures = by_stem(self.source, SUFFIXES) if self.source.is_dir() else {}
        for number, name in enumerate(self.names()):
            if name not in evidence:
                yield Frame(name, None, None)
                continue
            image = read_image(pictures[name][0]) if pictures else self._file().frame(number)[..., ::-1]
            yield Frame(name, image, read_scores(evidence[name]))

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
    """Writes an MP4 file, opened at the first picture."""

    path: Path
    rate: float
    _file: Any = field(default=None, repr=False)

    def add(self, picture: NDArray[np.uint8]) -> None:
        """One more picture (H, W, 3), colours red first."""
        cv2 = opencv.library()
        even = picture[: picture.shape[0] // 2 * 2, : picture.shape[1] // 2 * 2]  # as the format wants it
        if self._file is None:
            size = (even.shape[1], even.shape[0])
            self._file = cv2.VideoWriter(str(self.path), cv2.VideoWriter_fourcc(*"mp4v"), self.rate, size)
            if not self._file.isOpened():
                raise MixfieldError(f"cannot write the film {self.path}")
        self._file.write(np.ascontiguousarray(even[..., ::-1]))

    def close(self) -> None:
        """Finish the file."""
        if self._file is not None:
            self._file.release()
