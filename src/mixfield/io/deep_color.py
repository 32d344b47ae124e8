"""Colors with 16 bits per channel: Pillow has no such images and keeps the high byte of each number.

Its decoders take the order of the bytes from the raw mode of a tile, such as ``RGB;16B`` for the high byte first, and
keep the high byte.  Decoded a second time as if the order were the other one, an image has the low bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

OTHER_ORDER = {"16B": "16L", "16L": "16B", "16N": "16B" if sys.byteorder == "little" else "16L"}
COLOR_MODES = ("RGB", "RGBA")
MAX_BYTE = 255


def is_reduced(mode: str, tiles: Sequence[Any]) -> bool:
    """Whether Pillow reduces an image of this mode, with the tiles that it had before it was decoded, to 8 bits."""
    return mode in COLOR_MODES and any(map(_is_deep, tiles))


def with_low_bytes(tiles: Sequence[Any]) -> list[Any] | None:
    """Tiles that decode the low bytes instead of the high ones; None if the decoder has no such raw mode."""
    swapped = [_swapped(tile) for tile in tiles]
    return None if None in swapped else swapped


def combined(high: NDArray[np.uint8], low: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Numbers from their bytes."""
    numbers = high.astype(np.uint16)
    numbers <<= 8
    numbers |= low
    return numbers


def _is_deep(tile: Any) -> bool:
    codec, _, _, arguments = tile
    if codec.startswith("ppm"):
        return isinstance(arguments, tuple) and arguments[-1] > MAX_BYTE  # the largest number of the file
    return ";16" in _raw_mode(tile)


def _raw_mode(tile: Any) -> str:
    return str(tile[3][0] if isinstance(tile[3], tuple) else tile[3])


def _swapped(tile: Any) -> Any:
    channels, _, order = _raw_mode(tile).partition(";")
    if channels not in COLOR_MODES or order not in OTHER_ORDER:
        return None
    raw_mode = f"{channels};{OTHER_ORDER[order]}"
    parts = (*tile[:3], (raw_mode, *tile[3][1:]) if isinstance(tile[3], tuple) else raw_mode)
    return parts if type(tile) is tuple else type(tile)(*parts)  # a named tuple since Pillow 11
