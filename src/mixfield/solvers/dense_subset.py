"""Updates of some pixels of a dense field while all others stay fixed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixfield.filters.bank import subset_support
from mixfield.solvers.dense_update import DenseUpdate, bound_terms, update_pixels

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]


class SubsetUpdate:
    """Updates of some pixels, all others fixed: their support changes by what they give each other."""

    def __init__(self, update: DenseUpdate, points: NDArray[np.int64]) -> None:
        crf, couplings = update.crf, update.crf.couplings
        self._layout = update.layout
        self._support = subset_support(
            [coupling.filter for coupling in couplings],
            [coupling.compatibility for coupling in couplings],
            points,
            update.n_modes,
            update.threads,
        )
        self._costs, self._bias = crf.costs[points], update.bias[points]
        self._total_support = tuple(total[points] for total in update.total_support)

    def step(
        self, values: Float32s, beta: Float32s, support: Float32s, before: Float32s, *, rough: bool
    ) -> tuple[Float32s, Floats]:
        """New values (p, C) and (K,) changes, given the support (p, C) at the values ``before``."""
        new = np.zeros_like(values)
        pixels = (0, len(values))
        total = support + self._support(values - before)
        _, change = update_pixels(
            self._costs, self._bias, self._total_support[rough], total, values, self._layout, beta, pixels, new
        )
        return new, change

    def terms(self, values: Float32s) -> tuple[Floats, Floats]:
        """(K,) expected unary cost, bias included, and entropy of values (p, C)."""
        zero = np.zeros(len(values), np.float32)
        _, cost, information = bound_terms(
            self._costs, zero, values, values, self._layout, (0, len(values)), bias=self._bias
        )
        return cost, -information
