"""The transposed derivative of one parallel update of a dense field, band by band:

    z_i(l) = -U_i(l) - sum_m sum_l' c_m(l, l') (K_m q(l'))_i,   q = softmax(z)          the update, see `dense_update`
    q_bar = -sum_m K_m^T z_bar C_m,   z_bar <- S(q) q_bar,   S(q) = diag(q) - q q^T     its transpose

``K_m^T`` is the transpose of what the filter computes, not of the ideal Gaussian.  The same sums give the derivative
with respect to the compatibilities: ``d / d c_m(l, l') = -sum_j (K_m^T z_bar(l))_j q_j(l')``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads, kernels
from mixfield.energy.coupling import Coupling
from mixfield.filters.bands import MIN_PARTS, BandSchedule
from mixfield.filters.base import FusedStream
from mixfield.filters.buffers import channel_width
from mixfield.solvers.dense_history import Marginals

Floats = NDArray[np.float64]
AnyFloats = NDArray[np.floating[Any]]


class AdjointUpdate:
    """Adjoint updates of one field, with their working memory and what they have added up.

    Where all filters can be fused, ``z_bar`` exists in bands only: each is splatted for the next step while it is in
    the cache.

    Parameters
    ----------
    couplings : the kernels of the field.
    probes : kernels that do not act on the field (their weight is zero), of which `scales` are wanted all the same.
    n, n_labels, dtype : of the field; single precision with the filters of this package.
    threads : they do not change the result.

    Attributes
    ----------
    total : (n, L) the sum of all ``z_bar``.
    """

    def __init__(
        self,
        couplings: Sequence[Coupling],
        probes: Sequence[Coupling] = (),
        *,
        n: int,
        n_labels: int,
        dtype: Any = np.float32,
        threads: int = 1,
    ) -> None:
        self._couplings, self._acting = (*couplings, *probes), len(couplings)
        self._n_labels, self._threads = n_labels, threads
        self.total = np.zeros((n, n_labels), dtype)
        self._width = channel_width(n_labels) if self.total.dtype == np.float32 else n_labels
        row = max((coupling.filter.row for coupling in self._couplings), default=1)
        self._schedule = BandSchedule.of(n, row, self._width, MIN_PARTS)  # each part has a table of its own
        parts = self._schedule.part_pixels
        self._streams = [coupling.filter.adjoint_stream(self._width, parts) for coupling in self._couplings]
        in_place = all(stream.fused for stream in self._streams)
        self.fused = in_place and threads <= len(parts)
        self._z_bar = None if self.fused else self._zeros(n)
        self._next = self._z_bar if in_place else self._zeros(n)
        bands = len(self._schedule.bands)
        self._scales = np.zeros((bands, len(self._couplings)))
        self._pairs: list[Floats | None] = [
            None if coupling.compatibility is None else np.zeros((bands, n_labels, n_labels))
            for coupling in self._couplings
        ]

    @property
    def scales(self) -> tuple[Floats, Floats]:
        """Derivatives with respect to a factor of each kernel: those of the field, and the probes."""
        total = self._scales.sum(0)
        return total[: self._acting], total[self._acting :]

    @property
    def compatibilities(self) -> tuple[Floats | None, ...]:
        """(L, L) derivatives with respect to the costs of each kernel of the field; None for a Potts kernel."""
        return tuple(None if pairs is None else pairs.sum(0) for pairs in self._pairs[: self._acting])

    def start(self, fill: Callable[[int, int, AnyFloats], None]) -> float:
        """Begin with ``z_bar`` as ``fill(first, last, z_bar)`` writes it for pixels ``first`` to ``last``.

        Returns the largest element; so does `step`.
        """

        def begin(band: int, first: int, last: int, z_bar: AnyFloats) -> None:  # noqa: ARG001
            fill(first, last, z_bar)
            self.total[first:last] = z_bar[:, : self._n_labels]

        return self._for_each_band(begin)

    def step(self, marginals: Marginals) -> float:
        """``z_bar <- S(q) q_bar``, which is added to `total`; ``marginals`` q are those that the update has read."""
        for stream in self._streams:
            if self._z_bar is None:
                cast(FusedStream, stream).blur(self._threads)
            else:
                stream.load(self._z_bar, self._threads)

        def pull_back(band: int, first: int, last: int, z_bar: AnyFloats) -> None:
            held, sums = np.empty((2, *z_bar.shape), z_bar.dtype)
            q = marginals.band(first, last, held)
            self._slice(band, first, last, q, z_bar, sums)
            kernels.softmax_gradient.pull_back(q, z_bar, self._n_labels, z_bar, self.total[first:last])

        return self._for_each_band(pull_back)

    def _for_each_band(self, work: Callable[[int, int, int, AnyFloats], None]) -> float:
        """Let ``work(band, first, last, z_bar)`` write the next ``z_bar`` (last - first, C) of every band."""
        bands = self._schedule.bands
        largest, shares = np.zeros(len(bands)), self._schedule.shares(in_order=self.fused)

        def some(begin: int, end: int) -> None:
            memory = self._zeros(self._schedule.largest if self.fused else 0)
            for band in range(shares[begin][0], shares[end - 1][1]):
                first, last = bands[band]
                z_bar = memory[: last - first] if self._next is None else self._next[first:last]
                work(band, first, last, z_bar)
                largest[band] = max(z_bar.max(), -z_bar.min())
                if self.fused:
                    self._splat(band, first, z_bar)

        _threads.split(some, len(shares), self._threads, updates=self.total.size)
        self._z_bar, self._next = self._next, self._z_bar
        return float(largest.max())

    def _splat(self, band: int, first: int, z_bar: AnyFloats) -> None:
        for stream in self._streams:
            cast(FusedStream, stream).splat(self._schedule.part_of[band], z_bar, first)

    def _slice(self, band: int, first: int, last: int, q: AnyFloats, q_bar: AnyFloats, sums: AnyFloats) -> None:
        """Write ``q_bar`` (last - first, C) of a band, add its share of the other derivatives; ``sums`` is memory."""
        L = self._n_labels
        q_bar[:] = 0.0
        for m, (stream, coupling) in enumerate(zip(self._streams, self._couplings, strict=True)):
            stream.slice(first, last, sums, accumulate=False)
            pairs = self._pairs[m]
            if pairs is not None:
                pairs[band] -= sums[:, :L].T @ q[:, :L]
                sums[:, :L] = -sums[:, :L] @ np.asarray(coupling.compatibility, sums.dtype)
            self._scales[band, m] += np.vdot(sums, q)
            if m < self._acting:
                q_bar += sums

    def _zeros(self, rows: int) -> AnyFloats:
        """Channels (rows, C)."""
        return np.zeros((rows, self._width), self.total.dtype)
