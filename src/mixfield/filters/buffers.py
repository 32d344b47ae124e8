"""Working memory: arrays aligned to cache lines, and pools that use them again."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

CACHE_LINE = 64  # bytes
LAZY_ZEROS = 1 << 25  # bytes from which zeros are left to the operating system, which clears pages at first use

Float32s = NDArray[np.float32]
Bytes = NDArray[np.uint8]


def channel_width(channels: int) -> int:
    """Columns that are allocated for a number of channels: 4 or a multiple of 8, such that rows fit cache lines."""
    return 4 if channels <= 4 else 16 if 8 < channels <= 16 else -(-channels // 8) * 8


class BufferPool:
    """Memory blocks that are used again as soon as no array refers to them.

    Fresh memory costs system time, about as much as a pass over it.  Blocks have sizes of powers of two.
    """

    def __init__(self) -> None:
        self._free: dict[int, list[Bytes]] = {}

    def take(self, size: int) -> Bytes:
        """A block of at least ``size`` bytes with arbitrary contents; it returns to the pool by itself."""
        order = size.bit_length()
        blocks = self._free.setdefault(order, [])
        try:
            block = blocks.pop()
        except IndexError:  # not a test before: another thread may take the last one in between
            block = np.empty(1 << order, np.uint8)
        lease = np.frombuffer(block.data, np.uint8)  # arrays made from it refer to the lease, not to the block
        weakref.finalize(lease, blocks.append, block).atexit = False
        return lease


def aligned_empty(*shape: int, pool: BufferPool | None = None) -> Float32s:
    """Single-precision array with arbitrary contents that begins at a cache line."""
    size = 4 * math.prod(shape) + CACHE_LINE
    return _aligned(np.empty(size, np.uint8) if pool is None else pool.take(size), shape)


def aligned_zeros(*shape: int, pool: BufferPool | None = None) -> Float32s:
    """Single-precision zeros that begin at a cache line."""
    size = 4 * math.prod(shape) + CACHE_LINE
    if pool is None and size >= LAZY_ZEROS:
        return _aligned(np.zeros(size, np.uint8), shape)
    array = aligned_empty(*shape, pool=pool)
    array[...] = 0.0
    return array


def _aligned(block: Bytes, shape: tuple[int, ...]) -> Float32s:
    first = -block.ctypes.data % CACHE_LINE
    return block[first : first + 4 * math.prod(shape)].view(np.float32).reshape(shape)


class Scratch:
    """Arrays of one shape that threads borrow in turns.

    Attributes
    ----------
    rows, width : the shape.
    """

    def __init__(self, rows: int, width: int, pool: BufferPool | None = None) -> None:
        self.rows, self.width = rows, width
        self._pool = pool
        self._free: list[Float32s] = []

    @contextmanager
    def borrow(self) -> Iterator[Float32s]:
        """An array (rows, width) with arbitrary contents."""
        try:
            array = self._free.pop()
        except IndexError:
            array = aligned_empty(self.rows, self.width, pool=self._pool)
        try:
            yield array
        finally:
            self._free.append(array)
