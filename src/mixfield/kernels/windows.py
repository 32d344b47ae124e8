"""Integral images, for sums over windows."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from mixfield.kernels.jit import jit


@jit()
def accumulate(values: NDArray[Any]) -> None:
    """Replace the rows of values (n, m) by their running sums."""
    for r in range(1, len(values)):
        for c in range(values.shape[1]):
            values[r, c] += values[r - 1, c]
