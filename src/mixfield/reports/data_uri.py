"""Images as data URIs, which a page contains instead of loading files."""

from __future__ import annotations

import base64
import io

import numpy as np
from numpy.typing import NDArray

from mixfield.reports.png import encode_png

Bytes = NDArray[np.uint8]

JPEG_QUALITY = 88


def data_uri(content: bytes, media_type: str = "image/png") -> str:
    """The data URI of a file."""
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"


def png_uri(image: Bytes, palette: Bytes | None = None, *, transparent: int | None = None) -> str:
    """The data URI of a PNG file; parameters as for `encode_png`."""
    return data_uri(encode_png(image, palette, transparent=transparent))


def photo_uri(image: Bytes) -> str:
    """The data URI of a photograph (H, W, 3): JPEG if Pillow is installed, otherwise PNG; PNG of grey (H, W)."""
    if image.ndim == 2:
        return png_uri(image)
    try:
        from PIL import Image
    except ImportError:
        return png_uri(image)
    stream = io.BytesIO()
    Image.fromarray(image).save(stream, format="JPEG", quality=JPEG_QUALITY)
    return data_uri(stream.getvalue(), "image/jpeg")


def subsampled(image: Bytes, max_side: int) -> Bytes:
    """Every k-th row and column of (H, W, ...), for the smallest k with at most ``max_side`` of each."""
    step = sampling_step(image.shape, max_side)
    return np.ascontiguousarray(image[::step, ::step])


def sampling_step(shape: tuple[int, ...], max_side: int) -> int:
    """The smallest k such that every k-th row and column of (H, W, ...) are at most ``max_side`` each."""
    return -(-max(shape[:2]) // max_side)
