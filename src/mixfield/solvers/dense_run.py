"""A number of parallel updates of a dense field with what their derivative needs: the marginals on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads
from mixfield.energy.coupling import Coupling
from mixfield.energy.dense_crf import DenseCRF
from mixfield.filters.buffers import channel_width
from mixfield.solvers.dense_history import ByteMarginals, Marginals, WholeMarginals
from mixfield.solvers.dense_update import DenseUpdate

Float32s = NDArray[np.float32]
AnyFloats = NDArray[np.floating[Any]]

ONE = np.ones(1, np.float32)


@dataclass(frozen=True, eq=False)
class Run:
    """The end of a number of updates.

    Attributes
    ----------
    couplings : the kernels of the field.
    log_marginals : (n, L) log q_T.
    history : q_0 to q_(T-1), None where they were not kept.
    """

    couplings: Sequence[Coupling]
    log_marginals: AnyFloats
    history: Sequence[Marginals] | None = None

    @property
    def marginals(self) -> AnyFloats:
        """(n, L) q_T."""
        return np.asarray(np.exp(self.log_marginals))

    def padded_marginals(self) -> AnyFloats:
        """q_T with the channels that filters want, (n, C)."""
        n, n_labels = self.log_marginals.shape
        single = self.log_marginals.dtype == np.float32
        q = np.zeros((n, channel_width(n_labels) if single else n_labels), self.log_marginals.dtype)
        np.exp(self.log_marginals, out=q[:, :n_labels])
        return q


def run_updates(crf: DenseCRF, updates: int, *, keep: bool = False, threads: int | None = None) -> Run:
    """``updates`` updates from the unary costs, ``q_0 = softmax(-U)``, in single precision.

    With ``keep`` the marginals before each update are kept, in 8 bits, for the derivative of all of them.
    """
    history = [ByteMarginals.empty(crf.n, crf.n_labels) for _ in range(updates)] if keep else None
    if updates == 0:
        return Run(crf.couplings, _log_softmax(-crf.costs), history)
    update = _complete_update(crf, threads)
    record = None if history is None else lambda t, *band: history[t].write(*band)
    values = update.run_splatted(ONE, updates - 1, record)
    return Run(crf.couplings, _log_update(update, values), history)


def run_from(crf: DenseCRF, q: NDArray[np.floating], updates: int = 1, *, threads: int | None = None) -> Run:
    """``updates`` updates from marginals ``q`` (n, L), to the fixed point near them."""
    update = _complete_update(crf, threads)
    values = update.layout.pack(q[None])
    for _ in range(updates - 1):
        update.invalidate()
        update.step(values, ONE, new := update.layout.zeros())
        values = new
    update.invalidate()
    return Run(crf.couplings, _log_update(update, values))


def run_updates_exactly(
    costs: AnyFloats, couplings: Sequence[Coupling], updates: int, *, keep: bool = False, start: AnyFloats | None = None
) -> Run:
    """The same for filters of any precision, such as `AllPairs`: costs (n, L), optionally from marginals ``start``."""
    log_q = _log_softmax(-costs) if start is None else np.log(np.maximum(start, np.finfo(costs.dtype).tiny))
    history: list[Marginals] | None = [] if keep else None
    for _ in range(updates):
        q = np.exp(log_q)
        if history is not None:
            history.append(WholeMarginals(q))
        log_q = _log_softmax(_support(couplings, q) - costs)
    return Run(couplings, log_q, history)


def support_of(coupling: Coupling, q: Any) -> tuple[AnyFloats, AnyFloats]:
    """(n, L) the sums ``K q``, and the support ``-K q C^T`` that they give."""
    sums: AnyFloats = coupling.filter.apply(q)
    return sums, sums if coupling.compatibility is None else -sums @ coupling.compatibility.astype(sums.dtype).T


def _support(couplings: Sequence[Coupling], q: AnyFloats) -> AnyFloats:
    return sum((support_of(coupling, q)[1] for coupling in couplings), np.zeros_like(q))


def _complete_update(crf: DenseCRF, threads: int | None) -> DenseUpdate:
    used = _threads.available() if threads is None else threads
    return DenseUpdate(crf, 1, threads=used, monitor=False, complete=True)


def _log_update(update: DenseUpdate, values: Float32s | None) -> Float32s:
    """(n, L) log-marginals after one more update of channels (n, C), or of those that are splatted already."""
    crf, L = update.crf, update.crf.n_labels
    log_q = np.empty((crf.n, L), np.float32)

    def work(band: int, first: int, last: int, support: Float32s) -> None:  # noqa: ARG001
        _log_softmax(support[:, :L] - crf.costs[first:last], out=log_q[first:last])

    update.bank.load(values)
    update.bank.for_each_band(work)
    return log_q


def _log_softmax(z: AnyFloats, out: AnyFloats | None = None) -> AnyFloats:
    z -= z.max(1, keepdims=True)
    total = np.exp(z).sum(1, keepdims=True)
    return np.subtract(z, np.log(total, out=total), out=out)
