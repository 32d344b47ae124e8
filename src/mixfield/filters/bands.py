"""How a field is cut: parts that are collected apart from each other, in bands that stay near the processor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads
from mixfield.filters.buffers import Scratch

Hear = Callable[[int, int, int, NDArray[np.float32]], object]  # band, first pixel, the one behind the last, memory

BAND = 1 << 18  # numbers that one thread works on at a time, about
BANDS = 16  # at least, and multiples of that, so that threads get equal shares
PARTS = 2, 4  # at least and at most, where there are so many bands


@dataclass(frozen=True)
class Portions:
    """Pixels in bands of whole rows, and bands in parts; neither depends on the number of threads.

    Attributes
    ----------
    bands : the first pixel of each, and the one behind the last.
    parts : the same for the bands of each part.
    """

    bands: tuple[tuple[int, int], ...]
    parts: tuple[tuple[int, int], ...]

    @staticmethod
    def of(n: int, row: int, channels: int, affordable: int) -> Portions:
        """Those of ``n`` pixels in rows of ``row``, with some ``channels`` each, where so many parts are affordable."""
        rows, wanted = -(-n // row), BANDS * -(-n * channels // (BANDS * BAND))
        step = -(-rows // wanted)
        bands = tuple((row * first, min(n, row * (first + step))) for first in range(0, rows, step))
        parts = min(len(bands), max(PARTS[0], min(affordable, PARTS[1])))
        cuts = [len(bands) * part // parts for part in range(parts + 1)]
        return Portions(bands, tuple(pairwise(cuts)))

    @cached_property
    def pixels(self) -> tuple[tuple[int, int], ...]:
        """The first pixel of each part, and the one behind the last."""
        return tuple((self.bands[first][0], self.bands[last - 1][1]) for first, last in self.parts)

    @cached_property
    def largest(self) -> int:
        """Pixels of the largest band."""
        return max(last - first for first, last in self.bands)

    @cached_property
    def part_of(self) -> tuple[int, ...]:
        """The part of each band."""
        return tuple(part for part, (first, last) in enumerate(self.parts) for _ in range(first, last))

    def each_band(self, hear: Hear, scratch: Scratch, threads: int, *, in_order: bool) -> None:
        """Call ``hear(band, first, last, memory)`` for every band, with room for its pixels.

        The bands of a part come ``in_order`` if wanted.
        """
        shares = self.parts if in_order else [(band, band + 1) for band in range(len(self.bands))]

        def work(begin: int, end: int) -> None:
            with scratch.lent() as memory:
                for band in range(shares[begin][0], shares[end - 1][1]):
                    first, last = self.bands[band]
                    hear(band, first, last, memory[: last - first])

        _threads.split(work, len(shares), threads, updates=self.bands[-1][1] * scratch.width)
