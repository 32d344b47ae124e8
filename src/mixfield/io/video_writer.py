"""Video files written picture by picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.errors import MixfieldError
from mixfield.io import opencv

CODEC = "mp4v"


@dataclass
class VideoWriter:
    """Writes an MP4 file; it is opened at the first picture and gets its name when it is closed.

    Attributes
    ----------
    path : of the file.
    rate : frames per second.
    """

    path: Path
    rate: float
    _stream: Any = field(default=None, repr=False)

    def add(self, picture: NDArray[np.uint8]) -> None:
        """Append a picture (H, W, 3), red first; an odd last row or column is left out, as the codec needs it."""
        even = picture[: picture.shape[0] // 2 * 2, : picture.shape[1] // 2 * 2]
        if self._stream is None:
            self._stream = self._open(width=even.shape[1], height=even.shape[0])
        self._stream.write(np.ascontiguousarray(even[..., ::-1]))

    def close(self) -> None:
        """Finish the file."""
        if self._stream is not None:
            self._stream.release()
            self._draft.replace(self.path)

    def abandon(self) -> None:
        """Remove what was written; an earlier file of this name stays."""
        if self._stream is not None:
            self._stream.release()
            self._draft.unlink()

    def _open(self, width: int, height: int) -> Any:
        cv2 = opencv.library()
        stream = cv2.VideoWriter(str(self._draft), cv2.VideoWriter_fourcc(*CODEC), self.rate, (width, height))
        if not stream.isOpened():
            raise MixfieldError(f"cannot write the video {self.path}")
        return stream

    @property
    def _draft(self) -> Path:
        return self.path.with_name(f".{self.path.name}")
