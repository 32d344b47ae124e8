"""What a user may ask of a solver, and what a run of a solver returns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays, _threads


@dataclass(frozen=True)
class Solver:
    """Options of mean-field solvers.

    Attributes
    ----------
    tolerance : a run has converged when no marginal changes by more than this.  If not given, the default of the
        family: 1e-6, or 1e-3 for the many pixels of a `DenseCRF`, or 1e-4 for `Occupancy`.
    max_iterations : sweeps or updates of one run; updates of those pixels of a dense field that still move count too.
        If not given, 2000, or 300 for `Occupancy`.
    threads : threads for compiled loops; they do not change the result.
    """

    tolerance: float | None = None
    max_iterations: int | None = None
    threads: int = field(default_factory=_threads.available)

    def __post_init__(self) -> None:
        if self.tolerance is not None:
            _arrays.positive("tolerance", self.tolerance)
        if self.max_iterations is not None:
            _arrays.at_least("max_iterations", self.max_iterations, 1)
        _arrays.at_least("threads", self.threads, 1)


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
