"""Bandwidths as pydensecrf takes them: one number, or one for each axis or channel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mixfield import _arrays
from mixfield.errors import MixfieldError


def bandwidths(name: str, value: float | Sequence[float], count: int) -> list[float]:
    """``count`` bandwidths above zero."""
    widths = np.asarray(value, np.float64)
    if widths.shape not in ((), (count,)):
        raise MixfieldError(f"{name} must be one number or {count}, one for each axis or channel, got {value!r}")
    return [_arrays.positive(name, float(width)) for width in np.broadcast_to(widths, count)]
