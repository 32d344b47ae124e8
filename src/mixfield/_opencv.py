"""OpenCV, imported at the first use."""

from __future__ import annotations

from typing import Any

from mixfield.errors import MixfieldError


def library() -> Any:
    """The module ``cv2``, or a `MixfieldError` that names the extra to install."""
    try:
        import cv2
    except ImportError:
        raise MixfieldError(
            "videos, images of cameras and optical flow need OpenCV: pip install 'mixfield[people]'"
        ) from None
    return cv2
