"""Room for channels: the probabilities of all modes and labels of a pixel, side by side."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

LINE = 64  # bytes that a processor moves together


def padded(channels: int) -> int:
    """Room for some channels: 4, or a multiple of 8, as the filters need it, without rows that straddle cache lines."""
    return 4 if channels <= 4 else 16 if 8 < channels <= 16 else -(-channels // 8) * 8


def room(*shape: int) -> NDArray[np.float32]:
    """Zeros that begin at the beginning of a cache line."""
    size = 4 * math.prod(shape)
    memory = np.zeros(size + LINE, np.uint8)
    first = -memory.ctypes.data % LINE
    return memory[first : first + size].view(np.float32).reshape(shape)
