"""Gaussian filtering by the matrix of all pairs of pixels: exact, in any precision, for small fields."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.errors import MixfieldError
from mixfield.filters.base import Filter, SubsetFilter
from mixfield.filters.normalization import Normalization, factors

Float32s = NDArray[np.float32]
Floats = NDArray[np.floating[Any]]

MOST_POINTS = 6000  # a matrix of 288 MB


class AllPairs(Filter):
    """``K_ij = strength before_j k(f_i, f_j) after_i``; sums have the precision of the values.

    Attributes
    ----------
    matrix : (n, n) K in float64.
    """

    def __init__(self, features: Floats, *, strength: float = 1.0, normalization: Normalization = "symmetric") -> None:
        if len(features) > MOST_POINTS:
            raise MixfieldError(
                f"all pairs of at most {MOST_POINTS} pixels can be summed, got {len(features)}; use the default filters"
            )
        points = np.asarray(features, np.float64)
        squares = (points**2).sum(1)
        gaussian = np.exp(-0.5 * np.maximum(squares[:, None] + squares - 2.0 * points @ points.T, 0.0))
        before, after = factors(gaussian.sum(1), normalization)
        self.matrix: NDArray[np.float64] = strength * after[:, None] * gaussian * before

    def apply(self, values: Any) -> Any:
        """``K values``, (n, C) to (n, C)."""
        return np.ascontiguousarray(self.matrix.astype(values.dtype, copy=False) @ values)

    def adjoint(self, values: Any) -> Any:
        """``K^T values``, (n, C) to (n, C)."""
        return np.ascontiguousarray(self.matrix.astype(values.dtype, copy=False).T @ values)

    def row_sums(self, threads: int) -> tuple[Float32s, Float32s]:  # noqa: ARG002
        """(n,) ``K 1``, twice: there is no rough version."""
        sums = self.matrix.sum(1).astype(np.float32)
        return sums, sums

    def subset(self, points: NDArray[np.int64]) -> SubsetFilter:
        """The filter among some of the points."""
        part = self.matrix[np.ix_(points, points)].astype(np.float32)
        return lambda values: np.ascontiguousarray(part @ values)
