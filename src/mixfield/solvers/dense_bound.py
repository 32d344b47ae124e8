"""The bound of a dense field pixel by pixel: what each one adds to A."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads
from mixfield.energy.dense_crf import DenseCRF
from mixfield.solvers.dense_update import DenseUpdate

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]

TINY = np.float32(np.finfo(np.float32).tiny)


def pixel_bounds(crf: DenseCRF, q: NDArray[np.floating], threads: int | None = None) -> Floats:
    """(n,) ``a_i = 1/2 q_i support_i - q_i U_i - q_i log q_i``, whose sum is the bound ``A = H(q) - E_q[E]``.

    Parameters
    ----------
    crf : the field.
    q : (n, L) marginals.
    threads : they do not change the result.
    """
    used = np.flatnonzero(q.any(0))
    if len(used) < crf.n_labels:
        crf, q = crf.restricted(used), q[:, used]
    L = crf.n_labels
    update = DenseUpdate(
        crf, 1, threads=_threads.available() if threads is None else threads, monitor=False, complete=True
    )
    values, bounds = update.layout.pack(q[None]), np.empty(crf.n)

    def add(band: int, first: int, last: int, support: Float32s) -> None:  # noqa: ARG001
        part = values[first:last, :L]
        gain = np.float32(0.5) * support[:, :L] - crf.costs[first:last] - np.log(np.maximum(part, TINY))
        np.einsum("il,il->i", part, gain, out=bounds[first:last], dtype=np.float64)

    update.bank.load(values)
    update.bank.for_each_band(add)
    return np.asarray(bounds - crf.least)
