"""What a run of a solver returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Ascent:
    """Where each mode of a batch stopped.

    Attributes
    ----------
    q : (K, n, L) marginals.
    iterations : (K,) sweeps or updates made.
    change : (K,) largest change of a marginal in the last one.
    converged : (K,) whether it was below the tolerance.
    """

    q: NDArray[np.float64]
    iterations: NDArray[np.int32]
    change: NDArray[np.float64]
    converged: NDArray[np.bool_]
