"""The transposed derivative of one parallel update of a dense field, band by band:

    z_i(l) = -U_i(l) - sum_m sum_l' c_m(l, l') (K_m q(l'))_i,   q = softmax(z)          the update, see `dense_update`
    q_bar = -sum_m K_m^T z_bar C_m,   z_bar <- S(q) q_bar,   S(q) = diag(q) - q q^T     its transpose

``K_m^T`` is the transpose of what the filter computes, not of the ideal Gaussian.  The same sums give the derivative
with respect to the compatibilities: ``d / d c_m(l, l') = -sum_j (K_m^T z_bar(l))_j q_j(l')``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads, kernels
from mixfield.energy.coupling import Coupling
from mixfield.filters.bands import MIN_PARTS, BandSchedule
from mixfield.filters.buffers import channel_width

Floats = NDArray[np.float64]
AnyFloats = NDArray[np.floating[Any]]


class AdjointUpdate:
    """Adjoint updates of one field, with their working memory and what they have added up.

    Parameters
    ----------
    couplings : the kernels of the field.
    probes : kernels that do not act on the field (their weight is zero), of which `scales` are wanted all the same.
    n, n_labels, dtype : of the field; single precision with the filters of this package.
    threads : they do not change the result.

    Attributes
    ----------
    width : channels stored per pixel.
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
        self._n_labels, self._dtype, self._threads = n_labels, np.dtype(dtype), threads
        self.width = channel_width(n_labels) if self._dtype == np.float32 else n_labels
        row = max((coupling.filter.row for coupling in self._couplings), default=1)
        self._schedule = BandSchedule.of(n, row, self.width, MIN_PARTS)  # each part has a table of its own
        parts = self._schedule.part_pixels
        self._streams = [coupling.filter.adjoint_stream(self.width, parts) for coupling in self._couplings]
        bands = len(self._schedule.bands)
        self._scales = np.zeros((bands, len(self._couplings)))
        self._pairs: list[Floats | None] = [
            None if coupling.compatibility is None else np.zeros((bands, n_labels, n_labels))
            for coupling in self._couplings
        ]

    @property
    def in_place(self) -> bool:
        """Whether a step may overwrite what it reads."""
        return all(stream.fused for stream in self._streams)

    @property
    def scales(self) -> tuple[Floats, Floats]:
        """Derivatives with respect to a factor of each kernel: those of the field, and the probes."""
        total = self._scales.sum(0)
        return total[: self._acting], total[self._acting :]

    @property
    def compatibilities(self) -> tuple[Floats | None, ...]:
        """(L, L) derivatives with respect to the costs of each kernel of the field; None for a Potts kernel."""
        return tuple(None if pairs is None else pairs.sum(0) for pairs in self._pairs[: self._acting])

    def zeros(self) -> AnyFloats:
        """Channels (n, C)."""
        return np.zeros((self._schedule.bands[-1][1], self.width), self._dtype)

    def step(self, z_bar: AnyFloats, q: AnyFloats, out: AnyFloats, total: AnyFloats) -> Floats:
        """Write ``S(q) q_bar`` to ``out`` and add it to ``total``; ``q`` are the marginals that the update has read.

        All are channels (n, C).  Returns the largest change of each band.
        """
        largest = np.zeros(len(self._schedule.bands))
        for stream in self._streams:
            stream.load(z_bar, self._threads)

        def work(begin: int, end: int) -> None:
            for band in range(begin, end):
                first, last = self._schedule.bands[band]
                q_bar = self._slice(band, first, last, q[first:last])
                new = out[first:last]
                kernels.softmax_gradient.pull_back(q[first:last], q_bar, self._n_labels, new, total[first:last])
                largest[band] = max(new.max(), -new.min())

        _threads.split(work, len(self._schedule.bands), self._threads, updates=q.size)
        return largest

    def _slice(self, band: int, first: int, last: int, q: AnyFloats) -> AnyFloats:
        """``q_bar`` (last - first, C) of a band; adds its share of the other derivatives."""
        L = self._n_labels
        q_bar, sums = np.zeros((2, last - first, self.width), self._dtype)
        for m, (stream, coupling) in enumerate(zip(self._streams, self._couplings, strict=True)):
            stream.slice(first, last, sums, accumulate=False)
            pairs = self._pairs[m]
            if pairs is not None:
                pairs[band] -= sums[:, :L].T @ q[:, :L]
                sums[:, :L] = -sums[:, :L] @ np.asarray(coupling.compatibility, self._dtype)
            self._scales[band, m] += np.vdot(sums, q)
            if m < self._acting:
                q_bar += sums
        return q_bar
