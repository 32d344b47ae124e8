"""POM's iteration: damped parallel updates of the probability that each cell is empty.

``a_n <- s a_n + (1 - s) / (1 + exp(logit_n / T))`` with all logits from the same average images.  The free energy does
not fall at every step, so a run ends when nothing moves any more, as in the released program.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads, kernels
from mixfield.energy.occupancy import Occupancy
from mixfield.solvers.ascent import Ascent
from mixfield.solvers.tilt import Tilt

Floats = NDArray[np.float64]

PATIENCE = 5  # updates in a row that move nothing by more than the tolerance


def ascend(
    energy: Occupancy,
    q: Floats,
    tilt: Tilt,
    *,
    temperature: Floats,
    tolerance: float,
    max_iterations: int,
    threads: int,
) -> Ascent:
    """Update a batch of modes (K, n, 2) until nothing moves by ``tolerance`` any more."""
    q = q.copy()
    iterations, change = np.zeros(len(q), np.int32), np.zeros(len(q))
    converged = np.zeros(len(q), bool)
    views, counts = energy.views, tilt.flat_counts()
    bias = tilt.bias + energy.prior_costs

    def work(first: int, last: int) -> None:
        kernels.silhouettes.ascend(
            views,
            bias,
            tilt.bias_of,
            counts,
            temperature,
            energy.damping,
            tolerance,
            PATIENCE,
            max_iterations,
            first,
            last,
            q,
            iterations,
            change,
            converged,
        )

    _threads.split(work, len(q), threads, updates=float(len(q)) * len(views.block))
    return Ascent(_inside(q, tilt), iterations, change, converged)


def _inside(q: Floats, tilt: Tilt) -> Floats:
    """Forbidden labels get exactly zero, not the smallest probability that the kernel keeps."""
    allowed = np.isfinite(tilt.bias)[tilt.bias_of]
    kept = np.where(allowed, q, 0.0)
    return np.asarray(kept / kept.sum(-1, keepdims=True))
