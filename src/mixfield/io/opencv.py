"""Images that OpenCV decodes and encodes, colors with blue first; OpenCV is imported at the first use."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mixfield import _files
from mixfield._opencv import library as library
from mixfield.errors import FileFormatError, MixfieldError

StrPath = str | os.PathLike[str]


MAX_FILE = 1 << 28  # bytes
PNG = b"\x89PNG\r\n\x1a\n"

_SIGNATURES = re.compile(  # BMP, GIF, JPEG, PNG, PPM, TIFF and WebP, as `mixfield.io.read_image` reads them
    rb"BM|GIF8|\xff\xd8\xff|\x89PNG|P[1-6]\s|II\x2a\0|MM\0\x2a|RIFF....WEBP", re.DOTALL
)


def read_image(path: StrPath) -> NDArray[np.uint8]:
    """Read an 8-bit image (H, W) or (H, W, 3), blue first."""
    if not Path(path).exists():
        raise FileNotFoundError(f"{path} does not exist")
    cv2, content = library(), _files.read_bytes(path, MAX_FILE)
    image = None
    if _SIGNATURES.match(content) and _has_whole_chunks(content):
        try:
            image = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_UNCHANGED)
        except cv2.error as error:
            raise FileFormatError(f"{path} is a damaged image: {error.err or error}") from None
    if image is None or image.dtype != np.uint8:
        raise FileFormatError(f"{path} is not an 8-bit image")
    return np.asarray(image[..., :3] if image.ndim == 3 else image)


def _has_whole_chunks(content: bytes) -> bool:
    """False for a PNG with a chunk beyond its end: OpenCV allocates and fills the length that a chunk declares."""
    position, kind = len(PNG), b""
    while content.startswith(PNG) and kind != b"IEND" and position < len(content):
        kind = content[position + 4 : position + 8]
        position += 12 + int.from_bytes(content[position : position + 4], "big")
    return position <= len(content)


def write_image(path: StrPath, image: NDArray[np.uint8]) -> None:
    """Write an 8-bit image; the suffix is the format."""
    success, content = library().imencode(Path(path).suffix, image)
    if not success:
        raise MixfieldError(f"cannot write the image {path}")
    _files.write_bytes(path, content.tobytes())
