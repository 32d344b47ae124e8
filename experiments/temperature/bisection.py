"""Bisection for a temperature."""

from __future__ import annotations

from collections.abc import Callable


def last_true(condition: Callable[[float], bool], high: float, accuracy: float) -> float:
    """The temperature between 0 and ``high`` up to which a condition holds, with the given accuracy."""
    low = 0.0
    while high - low > accuracy:
        middle = (low + high) / 2
        low, high = (middle, high) if condition(middle) else (low, middle)
    return (low + high) / 2
