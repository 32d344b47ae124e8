"""A filter of one's own: the four methods that a new filter needs, and the kernel that brings it to a `DenseCRF`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mixfield.filters.base import Filter


class MatrixFilter(Filter):
    """The filter of a matrix (n, n), dense or sparse."""

    def __init__(self, matrix):
        self.matrix = matrix.astype(np.float32)

    def apply(self, values):
        return np.ascontiguousarray(self.matrix @ values)

    def adjoint(self, values):
        return np.ascontiguousarray(self.matrix.T @ values)

    def row_sums(self, threads):  # noqa: ARG002
        sums = np.asarray(self.matrix.sum(1), np.float32).ravel()
        return sums, sums

    def subset(self, points):
        part = self.matrix[points][:, points]
        return lambda values: np.ascontiguousarray(part @ values)


@dataclass(frozen=True, eq=False)
class MatrixKernel:
    """A kernel whose matrix (n, n), already normalised, is given."""

    matrix: Any
    weight: Any = 1.0
    compatibility: Any = None
    normalization: str = "symmetric"

    def filter(self, shape, strength, *, symmetric):  # noqa: ARG002
        return MatrixFilter(strength * self.matrix)


def matrix_of(filter, n):
    """(n, n) what a filter computes, column by column."""
    return filter.apply(np.eye(n, dtype=np.float32))
