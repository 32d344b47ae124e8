"""A dense CRF that counts its filterings: a measure of compute that all methods share.

One filtering is that of the labels of one mode; a filtering of some of the pixels counts by their share.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield.energy import DenseCRF
from mixfield.filters.bands import Intervals
from mixfield.filters.base import Filter, Stream, SubsetFilter
from mixfield.filters.buffers import BufferPool
from mixfield.solvers import MeanFieldSolver, Solver, solver_for
from mixfield.solvers.dense import DenseSolver
from mixfield.solvers.dense_update import DenseUpdate, Step

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]


@dataclass
class Meter:
    """Filterings so far, and the number of modes of the update that is being made."""

    calls: float = 0.0
    n_modes: int = 1


class CountedCRF(DenseCRF):
    """A dense CRF whose ``meter`` counts filterings; the first of its filters counts for all of them."""

    meter: Meter

    @classmethod
    def of_energy(cls, energy: DenseCRF, noise: Float32s | None = None) -> CountedCRF:
        """The same field with all labels, and with ``noise`` (n, L) added to its costs."""
        crf, meter = object.__new__(cls), Meter()
        first, *others = energy.couplings
        counted = replace(first, filter=_CountedFilter(first.filter, energy.n, meter))
        costs = energy.costs if noise is None else energy.costs + noise
        crf._set(energy.shape, costs, energy.least, [counted, *others], negligible=0.0)
        crf.meter = meter
        return crf

    @property
    def calls(self) -> float:
        """Filterings so far."""
        return self.meter.calls

    def local_field(self, q: ArrayLike) -> Floats:
        self.meter.calls += self._n_modes(q)
        return super().local_field(q)

    def expected(self, q: ArrayLike) -> Floats:
        self.meter.calls += self._n_modes(q)
        return super().expected(q)

    def _n_modes(self, q: ArrayLike) -> int:
        return np.size(q) // (self.n * self.n_labels)


class _CountedUpdate(DenseUpdate):
    """Updates of all pixels are counted here, those of some pixels by `_CountedFilter`."""

    crf: CountedCRF

    def step(self, *values: Any, **options: Any) -> Step:
        self.crf.meter.n_modes = self.n_modes
        self.crf.meter.calls += self.n_modes
        return super().step(*values, **options)

    def bounds(self, values: Float32s, *, after_step: bool = False) -> Floats:
        self.crf.meter.calls += self.n_modes
        return super().bounds(values, after_step=after_step)


class _CountedFilter(Filter):
    """A filter of a field of ``n`` pixels that counts what it does for some of them."""

    def __init__(self, inner: Filter, n: int, meter: Meter) -> None:
        self._inner, self._n, self._meter = inner, n, meter
        self.row, self.table_size = inner.row, inner.table_size

    def apply(self, values: Float32s) -> Float32s:
        return self._inner.apply(values)

    def adjoint(self, values: Float32s) -> Float32s:
        return self._inner.adjoint(values)

    def row_sums(self, threads: int) -> tuple[Float32s, Float32s]:
        return self._inner.row_sums(threads)

    def stream(self, channels: int, parts: Intervals, pool: BufferPool | None = None) -> Stream:
        return self._inner.stream(channels, parts, pool)

    def subset(self, points: NDArray[np.int64]) -> SubsetFilter:
        filter_points = self._inner.subset(points)

        def counted(values: Float32s) -> Float32s:
            self._meter.calls += self._meter.n_modes * len(points) / self._n
            return filter_points(values)

        return counted


class _CountedSolver(DenseSolver):
    energy: CountedCRF

    def update(self, n_modes: int, bias: Float32s | None = None) -> DenseUpdate:
        return _CountedUpdate(self.energy, n_modes, bias, threads=self.options.threads, pool=self.pool)


@solver_for.register
def _(energy: CountedCRF, options: Solver | None = None) -> MeanFieldSolver:
    return _CountedSolver(energy, options)
