"""Pictures inside a page: PNG files written without a library, and photographs as JPEG where Pillow is there."""

from __future__ import annotations

import base64
import io
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

GREY, RGB, INDEXED = 0, 2, 3  # colour types of the PNG standard
PAETH, PLAIN = 4, 0  # its filters
QUALITY = 88  # of JPEG


def grey_png(grey: Bytes) -> bytes:
    """An 8-bit greyscale PNG file of an image (H, W)."""
    return _file(grey[..., None], GREY)


def rgb_png(image: Bytes) -> bytes:
    """An 8-bit PNG file of an image (H, W, 3)."""
    return _file(image, RGB)


def indexed_png(labels: Bytes, colours: Bytes, *, see_through: int | None = None) -> bytes:
    """A PNG file of labels (H, W) with their colours (n, 3), one of them transparent if wished."""
    used = int(labels.max()) + 1
    extra = _chunk(b"PLTE", colours[:used].tobytes())
    if see_through is not None and see_through < used:
        alpha = np.full(see_through + 1, 255, np.uint8)
        alpha[see_through] = 0
        extra += _chunk(b"tRNS", alpha.tobytes())
    return _file(labels[..., None], INDEXED, extra)


def data_uri(content: bytes, kind: str = "image/png") -> str:
    """A file as an address that a page can hold."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def photo_uri(image: Bytes) -> str:
    """A photograph (H, W, 3), or an image (H, W), as an address: JPEG if Pillow is there, otherwise PNG."""
    if image.ndim == 2:
        return data_uri(grey_png(image))
    try:
        from PIL import Image
    except ImportError:
        return data_uri(rgb_png(image))
    stream = io.BytesIO()
    Image.fromarray(image).save(stream, format="JPEG", quality=QUALITY)
    return data_uri(stream.getvalue(), "image/jpeg")


def smaller(image: Bytes, side: int) -> Bytes:
    """Every k-th pixel of an image (H, W, ...), so that it is at most ``side`` wide and high."""
    step = -(-max(image.shape[:2]) // side)
    return np.ascontiguousarray(image[::step, ::step])


def _file(pixels: Bytes, colour_type: int, extra: bytes = b"") -> bytes:
    height, width, channels = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0)
    kind = PAETH if colour_type == RGB else PLAIN
    rows = _paeth(pixels) if kind == PAETH else pixels
    lines = np.concatenate([np.full((height, 1), kind, np.uint8), rows.reshape(height, width * channels)], axis=1)
    body = _chunk(b"IDAT", zlib.compress(lines.tobytes(), 9))
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + extra + body + _chunk(b"IEND", b"")


def _paeth(pixels: Bytes) -> Bytes:
    """Each pixel minus that of its left, upper and upper left neighbour which predicts it best."""
    padded = np.pad(pixels.astype(np.int16), ((1, 0), (1, 0), (0, 0)))
    left, up, corner = padded[1:, :-1], padded[:-1, 1:], padded[:-1, :-1]
    guess = left + up - corner
    to_left, to_up, to_corner = abs(guess - left), abs(guess - up), abs(guess - corner)
    best = np.where((to_left <= to_up) & (to_left <= to_corner), left, np.where(to_up <= to_corner, up, corner))
    return (pixels - best).astype(np.uint8)


def _chunk(kind: bytes, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload)) + kind + payload + struct.pack(">I", zlib.crc32(kind + payload))
