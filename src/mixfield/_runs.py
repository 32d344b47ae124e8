"""Ascending numbers as runs of consecutive ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def runs_of(numbers: Ints) -> Ints:
    """(R, 2) first number and length of each run."""
    starts = np.flatnonzero(np.diff(numbers, prepend=numbers[:1] - 2) != 1)
    return np.stack([numbers[starts], np.diff(starts, append=len(numbers))], axis=1)


def expanded(runs: Ints) -> Ints:
    """The numbers of `runs_of`."""
    first, length = runs.T
    return np.repeat(first - np.cumsum(length) + length, length) + np.arange(length.sum())
