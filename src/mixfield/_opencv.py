"""OpenCV, imported at the first use."""

from __future__ import annotations

import os
from typing import Any

from mixfield.errors import MixfieldError

MAX_PIXELS = 1 << 26  # of an image that OpenCV decodes; its own limit, 2**30, is gigabytes from a file of a few bytes


def library() -> Any:
    """The module ``cv2``, or a `MixfieldError` that names the extra to install."""
    os.environ.setdefault("OPENCV_IO_MAX_IMAGE_PIXELS", str(MAX_PIXELS))  # read when OpenCV is loaded
    try:
        import cv2
    except ImportError:
        raise MixfieldError(
            "videos, images of cameras and optical flow need OpenCV: pip install 'mixfield[people]'"
        ) from None
    return cv2
