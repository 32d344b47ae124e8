"""Sums under a kernel in two steps: all pixels are collected, then all are told."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads

Float32s = NDArray[np.float32]
Parts = Sequence[tuple[int, int]]  # the first pixel of each part of a field, and the one behind the last


class Sums(Protocol):
    """Sums of some channels over all pixels, under a kernel."""

    def take(self, values: Float32s, threads: int, *, rough: bool = False) -> None:
        """Whatever is common to all pixels, from values (n, C); ``rough`` allows a cheaper approximation."""

    def add(self, first: int, last: int, out: Float32s, *, keep: bool = True) -> None:
        """Add the sums of pixels ``first`` to ``last`` to ``out`` (last - first, C); without ``keep``, write them."""


class Flowing(ABC):
    """Sums for which pixels are collected a few at a time, while the last sums can still be read.

    Attributes
    ----------
    parts : of the field, collected apart from each other.
    """

    parts: Parts

    def take(self, values: Float32s, threads: int, *, rough: bool = False) -> None:
        """Collect all values (n, C), a part by each thread, and finish."""

        def work(part: int) -> None:
            first, last = self.parts[part]
            self.collect(part, values[first:last], first)

        _threads.each(work, len(self.parts), threads, updates=4 * values.size)
        self.finish(threads, rough=rough)

    @abstractmethod
    def collect(self, part: int, values: Float32s, first: int) -> None:
        """Take note of the values (p, C) of pixels from ``first`` on.

        Those of a part come one after the other, and with the first of them all that was collected of it before is
        forgotten; different parts may be collected by different threads.
        """

    @abstractmethod
    def finish(self, threads: int, *, rough: bool = False) -> None:
        """Make the sums of what was collected ready to be read, once: it is used up."""

    @abstractmethod
    def add(self, first: int, last: int, out: Float32s, *, keep: bool = True) -> None:
        """Add the sums of pixels ``first`` to ``last`` to ``out`` (last - first, C); without ``keep``, write them."""
