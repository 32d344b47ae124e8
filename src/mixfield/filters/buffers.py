"""Room for channels: the probabilities of all modes and labels of a pixel, side by side."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from numpy.typing import NDArray

LINE = 64  # bytes that a processor moves together
MUCH = 1 << 25  # bytes from which on fresh zeros are left to the system, which blanks page by page

Bytes = NDArray[np.uint8]

_RETURNED: ContextVar[dict[int, list[Bytes]] | None] = ContextVar("returned", default=None)  # by powers of two


def padded(channels: int) -> int:
    """Room for some channels: 4, or a multiple of 8, as the filters need it, without rows that straddle cache lines."""
    return 4 if channels <= 4 else 16 if 8 < channels <= 16 else -(-channels // 8) * 8


def room(*shape: int) -> NDArray[np.float32]:
    """Zeros that begin at the beginning of a cache line."""
    return space(*shape, blank=True)


def space(*shape: int, blank: bool = False) -> NDArray[np.float32]:
    """Memory that begins at the beginning of a cache line, whatever is in it, or ``blank``."""
    size = 4 * math.prod(shape)
    returned, kind = _RETURNED.get(), (size + LINE).bit_length()
    clean = False
    if returned and returned.get(kind):
        memory = returned[kind].pop()
    else:
        clean = blank and size >= MUCH
        memory = (np.zeros if clean else np.empty)(size + LINE if returned is None else 1 << kind, np.uint8)
    if blank and not clean:
        memory[: size + LINE] = 0
    lease = np.frombuffer(memory.data, np.uint8)  # what views of it refer to; not the memory itself
    if returned is not None:
        weakref.finalize(lease, returned.setdefault(kind, []).append, memory).atexit = False
    first = -memory.ctypes.data % LINE
    return lease[first : first + size].view(np.float32).reshape(shape)


class Scratch:
    """Memory of one shape that is lent to threads again and again."""

    def __init__(self, rows: int, width: int) -> None:
        self.rows, self.width = rows, width
        self._free: list[NDArray[np.float32]] = []

    @contextmanager
    def lent(self) -> Iterator[NDArray[np.float32]]:
        """Some of it, whatever is in it."""
        try:
            memory = self._free.pop()
        except IndexError:
            memory = space(self.rows, self.width)
        try:
            yield memory
        finally:
            self._free.append(memory)


@contextmanager
def reused() -> Iterator[None]:
    """Within, memory that nobody uses any more is given out again: the system takes its time to give fresh memory."""
    token = _RETURNED.set({} if _RETURNED.get() is None else _RETURNED.get())
    try:
        yield
    finally:
        _RETURNED.reset(token)
