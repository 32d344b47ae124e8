"""Images that OpenCV decodes and encodes, colors with blue first; OpenCV is imported at the first use."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mixfield import _files
from mixfield._opencv import library as library
from mixfield.errors import FileFormatError, MixfieldError

StrPath = str | os.PathLike[str]


def read_image(path: StrPath) -> NDArray[np.uint8]:
    """Read an 8-bit image (H, W) or (H, W, 3), blue first."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"{path} does not exist")
    image = library().imread(str(path), library().IMREAD_UNCHANGED)
    if image is None or image.dtype != np.uint8:
        raise FileFormatError(f"{path} is not an 8-bit image")
    return np.asarray(image[..., :3] if image.ndim == 3 else image)


def write_image(path: StrPath, image: NDArray[np.uint8]) -> None:
    """Write an 8-bit image; the suffix is the format."""
    success, content = library().imencode(Path(path).suffix, image)
    if not success:
        raise MixfieldError(f"cannot write the image {path}")
    _files.write_bytes(path, content.tobytes())
