"""Bands: the blocks of pixels that one thread processes while they are in its cache."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

Intervals = tuple[tuple[int, int], ...]  # first element of each, and one past the last

BAND_SIZE = 1 << 18  # numbers of one band, about
MIN_BANDS = 16  # bands come in multiples of this, so that threads get equal shares
MIN_PARTS, MAX_PARTS = 2, 4


@dataclass(frozen=True)
class BandSchedule:
    """Pixels in bands of whole rows, and consecutive bands in parts; neither depends on the number of threads.

    Attributes
    ----------
    bands : pixel interval of each band.
    parts : band interval of each part.  Values of a part are splatted in order by one thread, into a table of its own.
    """

    bands: Intervals
    parts: Intervals

    @staticmethod
    def of(n: int, row: int, channels: int, max_parts: int = MAX_PARTS) -> BandSchedule:
        """Schedule of ``n`` pixels in rows of ``row`` pixels with ``channels`` numbers each."""
        n_rows, n_bands = -(-n // row), MIN_BANDS * -(-n * channels // (MIN_BANDS * BAND_SIZE))
        step = -(-n_rows // n_bands)
        bands = tuple((row * first, min(n, row * (first + step))) for first in range(0, n_rows, step))
        n_parts = min(len(bands), max(MIN_PARTS, min(max_parts, MAX_PARTS)))
        cuts = [len(bands) * part // n_parts for part in range(n_parts + 1)]
        return BandSchedule(bands, tuple(pairwise(cuts)))

    @cached_property
    def part_pixels(self) -> Intervals:
        """Pixel interval of each part."""
        return tuple((self.bands[first][0], self.bands[last - 1][1]) for first, last in self.parts)

    @cached_property
    def part_of(self) -> tuple[int, ...]:
        """Part of each band."""
        return tuple(part for part, (first, last) in enumerate(self.parts) for _ in range(first, last))

    @cached_property
    def largest(self) -> int:
        """Pixels of the largest band."""
        return max(last - first for first, last in self.bands)

    def shares(self, *, in_order: bool) -> Intervals:
        """Bands that one thread visits one after the other: those of a part if ``in_order``, else single bands."""
        return self.parts if in_order else tuple((band, band + 1) for band in range(len(self.bands)))
