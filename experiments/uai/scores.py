"""The scores of the UAI competitions (Dechter, Ihler, Gogate and others, 2014 and 2022)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def pr_error(found: float, log_z: float) -> float | None:
    """|log10 Z~ - log10 Z| of natural logarithms; None where there is no answer."""
    return abs(found - log_z) / math.log(10.0) if math.isfinite(found) else None


def mar_error(found: Sequence[Floats] | None, exact: Sequence[Floats]) -> float | None:
    """Mean over variables of the Hellinger distance; marginals of ``found`` may be padded.  None without an answer."""
    if found is None:
        return None
    distances = [
        math.sqrt(0.5 * float(((np.sqrt(np.asarray(p)[: len(q)]) - np.sqrt(q)) ** 2).sum()))
        for p, q in zip(found, exact, strict=True)
    ]
    return float(np.mean(distances))
