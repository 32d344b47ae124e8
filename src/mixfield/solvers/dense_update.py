"""One parallel update of a dense field (algorithm 1 of Krähenbühl and Koltun, 2011), for K modes at once:

    support_i(l) = sum_m sum_j k_m(f_i, f_j) q_j(l)                       filtering, see `filters`
    q_i(l) <- softmax_l [(support_i(l) - U_i(l) - bias_i(l)) / T]         pixel by pixel

Where all filters can be fused, the new probabilities of a band of pixels are splatted for the next update while they
are in the cache, so that probabilities are read and written once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mixfield import kernels
from mixfield.energy.dense_crf import DenseCRF
from mixfield.filters.bank import FilterBank, Update
from mixfield.filters.buffers import BufferPool, aligned_empty
from mixfield.solvers.layout import Layout

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]
Record = Callable[[int, int, int, Float32s], object]  # ``record(t, first, last, values)``: pixels first to last of q_t

MANY_LABELS = 8  # from so many labels on, those of one pixel fill the vector registers
COLUMNS = 256  # modes of pixels that the other kernels process together


@dataclass(frozen=True)
class Movers:
    """Pixels that changed by more than a threshold in an update.

    Attributes
    ----------
    points : (p,) the pixels.
    support, before : (p, C) their support in that update, and their values before it.
    """

    points: NDArray[np.int64]
    support: Float32s
    before: Float32s


@dataclass(frozen=True)
class Step:
    """Terms of one update.

    Attributes
    ----------
    support : (K,) ``sum_i sum_l q_i(l) support_i(l)`` of the values before the update.
    cost, entropy : (K,) expected unary cost, bias included, and entropy of the values after it.
    change : (K,) largest change of a marginal; infinite where the update is not monitored.
    movers : those that were asked for, else None.
    """

    support: Floats
    cost: Floats
    entropy: Floats
    change: Floats
    movers: Movers | None = None


class DenseUpdate:
    """The update of K modes of a field, with its working memory; one thread of control at a time may use it.

    Parameters
    ----------
    crf : the field.
    n_modes : K.
    bias : (n, L * K) additional costs of each mode, laid out as the channels; none if not given.
    threads : they do not change the result.
    monitor : whether steps report their terms.
    pool : where buffers come from.
    complete : store all labels, see `Layout`.
    """

    def __init__(
        self, crf: DenseCRF, n_modes: int, bias: Float32s | None = None, *, threads: int, monitor: bool = True,
        pool: BufferPool | None = None, complete: bool = False,
    ) -> None:  # fmt: skip
        self.crf, self.n_modes, self.threads, self.monitor = crf, n_modes, threads, monitor
        self.bias = np.empty((crf.n, 0), np.float32) if bias is None else bias
        self.layout = Layout(crf, n_modes, pool, complete)
        filters = [coupling.filter for coupling in crf.couplings]
        costs, width = [coupling.compatibility for coupling in crf.couplings], self.layout.width
        self.bank = FilterBank(filters, costs, n=crf.n, channels=width, n_modes=n_modes, threads=threads, pool=pool)
        zero = np.zeros(crf.n, np.float32)
        # what the labels that are not stored add up to
        self.total_support = crf.total_support if self.layout.stored < crf.n_labels else (zero, zero)

    @property
    def in_place(self) -> bool:
        """Whether an update may overwrite the values that it reads."""
        return self.bank.in_place

    def start(self, beta: Float32s, *, keep: bool = True, record: Record | None = None) -> Float32s:
        """Channels (n, C) of ``softmax(-(U + bias) beta)``, the update without support; ``beta`` (K,) is 1 / T.

        Without ``keep`` they are only given to ``record`` and splatted for the next step, and the result is empty.
        """
        values = aligned_empty(self.crf.n if keep else 0, self.layout.width, pool=self.layout.pool)
        zero = np.zeros(self.crf.n, np.float32)

        def start(band: int, first: int, last: int, support: Float32s) -> Float32s:  # noqa: ARG001
            new = values[first:last] if keep else support
            new[:, self.layout.used :] = 0.0
            update_pixels(
                self.crf.costs, self.bias, zero, support, new, self.layout, beta, (first, last), new, monitor=False
            )
            if record is not None:
                record(0, first, last, new)
            return new

        self.bank.for_each_band(start, support=False, splat_into=self.bank if self.bank.fused else None)
        return values

    def run(self, beta: Float32s, updates: int) -> Float32s:
        """Channels after some updates from `start` on; where filters are fused, no others are written."""
        if self.bank.fused and updates:
            values = aligned_empty(self.crf.n, self.layout.width, pool=self.layout.pool)
            self.run_splatted(beta, updates - 1)
            self.bank.load(None)
            self._update_all(None, beta, values, fused=False)
            return values
        return self._run_whole(beta, updates, None)

    def run_splatted(self, beta: Float32s, updates: int, record: Record | None = None) -> Float32s | None:
        """The same updates, the values of each of which, and those of `start`, are given to ``record``.

        Returns the last values where the bank has to read them, and None where it has splatted them already.
        """
        if not self.bank.fused:
            return self._run_whole(beta, updates, record)
        self.start(beta, keep=False, record=record)
        for t in range(1, updates + 1):
            self.bank.load(None)
            self._update_all(None, beta, None, fused=True, record=None if record is None else partial(record, t))
        return None

    def _run_whole(self, beta: Float32s, updates: int, record: Record | None) -> Float32s:
        old = self.start(beta, record=record)
        for t in range(1, updates + 1):
            new = None if self.in_place else self.layout.zeros()
            self.step(old, beta, new)
            old = old if new is None else new
            if record is not None:
                record(t, 0, self.crf.n, old)
        return old

    def step(
        self, old: Float32s, beta: Float32s, new: Float32s | None = None, *, rough: bool = False,
        movers_above: float = np.inf,
    ) -> Step:  # fmt: skip
        """Update channels ``old`` (n, C), in place or to ``new``.

        Parameters
        ----------
        rough : use the cheaper version of the filters.
        movers_above : report pixels that change by more than this.

        Notes
        -----
        Call `invalidate` after the values are changed in place between two steps.
        """
        fused = self.bank.fused and new is None and movers_above == np.inf
        out = old if new is None else new
        self.bank.load(old, rough=rough)  # support_i(l) = sum_m sum_j k_m(f_i, f_j) q_j(l)
        return self._update_all(old, beta, out, rough=rough, movers_above=movers_above, fused=fused)

    def invalidate(self) -> None:
        """The values to be updated next are not those that the last step has left."""
        self.bank.invalidate()

    def bounds(self, values: Float32s, *, after_step: bool = False) -> Floats:
        """(K,) ``A = H(q) - E_q[E]`` of channels (n, C), without bias, in float64.

        ``after_step`` says that the values are those that the last step has left: they need not be splatted again.
        """
        crf = self.crf
        if not after_step:
            self.invalidate()
        rough = all(coupling.symmetric for coupling in crf.couplings)  # then one order gives the same quadratic form
        terms = np.zeros((len(self.bank.schedule.bands), 3, self.n_modes))

        def add(band: int, first: int, last: int, support: Float32s) -> None:
            terms[band] = bound_terms(
                crf.costs, self.total_support[rough], support, values[first:last], self.layout, (first, last)
            )

        self.bank.load(values, rough=rough)
        self.bank.for_each_band(add)
        support, cost, information = terms.sum(0)
        # A = sum_i [1/2 q_i support_i - q_i U_i - q_i log q_i]
        return np.asarray(0.5 * support - cost - information) - float(crf.least.sum())

    def _update_all(
        self, old: Float32s | None, beta: Float32s, new: Float32s | None, *, fused: bool, rough: bool = False,
        movers_above: float = np.inf, record: Callable[[int, int, Float32s], object] | None = None,
    ) -> Step:  # fmt: skip
        """Update all pixels with their support.  ``old`` and ``new`` may be None where values exist in bands only."""
        n_bands = len(self.bank.schedule.bands)
        terms, change = np.zeros((n_bands, 3, self.n_modes)), np.zeros((n_bands, self.n_modes))
        movers: list[Movers | None] = [None] * n_bands

        def update(band: int, first: int, last: int, support: Float32s) -> Float32s:
            before, after = (support if values is None else values[first:last] for values in (old, new))
            # q_i(l) <- softmax_l [(support_i(l) - U_i(l) - bias_i(l)) / T] for the pixels i of this band
            terms[band], change[band] = update_pixels(
                self.crf.costs, self.bias, self.total_support[rough], support, before, self.layout, beta,
                (first, last), after, monitor=self.monitor,
            )  # fmt: skip
            if record is not None:
                record(first, last, after)
            return after

        def update_and_find_movers(band: int, first: int, last: int, support: Float32s) -> Float32s:
            assert old is not None
            before = old[first:last].copy() if old is new else old[first:last]
            after = update(band, first, last, support)
            moved = kernels.softmax.movers(before, after, np.float32(movers_above))
            movers[band] = Movers(moved + first, support.take(moved, 0), before.take(moved, 0))
            return after

        visit: Update = update_and_find_movers if movers_above < np.inf else update
        self.bank.for_each_band(visit, splat_into=self.bank if fused else None)
        support, cost, entropy = terms.sum(0)
        largest = change.max(0) if self.monitor else np.full(self.n_modes, np.inf)
        return Step(support, cost, entropy, largest, _joined(movers))


def _joined(movers: list[Movers | None]) -> Movers | None:
    """The movers of all bands together, None where they were not asked for."""
    found = [one for one in movers if one is not None]
    if not found:
        return None
    return Movers(
        np.concatenate([one.points for one in found]),
        np.concatenate([one.support for one in found]),
        np.concatenate([one.before for one in found]),
    )


def update_pixels(
    costs: Float32s, bias: Float32s, total_support: Float32s, support: Float32s, old: Float32s, layout: Layout,
    beta: Float32s, pixels: tuple[int, int], new: Float32s, *, monitor: bool = True,
) -> tuple[Floats, Floats]:  # fmt: skip
    """Write ``softmax((support - costs - bias) beta)`` to ``new``, for the pixels ``first`` to ``last``.

    ``costs``, ``bias`` and ``total_support`` are those of the whole field; ``support``, ``old`` and ``new`` (b, C) of
    these pixels alone.  ``new`` may be ``old``.

    Returns
    -------
    (3, K) support of ``old``, cost and entropy of ``new``; and (K,) the largest changes.
    """
    n_modes, (first, last) = len(beta), pixels
    terms, change = np.zeros((3, n_modes)), np.zeros(n_modes)
    if _label_vectors(costs, bias, layout):
        end = min(last, len(costs) - 1)  # the kernel reads a little beyond the end of a row of costs
        kernels.pixel_rows.update(costs, support, old, beta[0], monitor, first, end, new, terms.reshape(-1), change)
        support, old, new, first = support[end - first :], old[end - first :], new[end - first :], end
    if first < last:
        columns, moved = _columns(3, n_modes), _columns(1, n_modes)[0].astype(np.float32)
        kernels.softmax.update(
            costs, bias, total_support, support, old, layout.stored, beta, monitor, first, last, new, columns, moved
        )
        terms += _summed(columns, n_modes)
        change = np.maximum(change, moved.reshape(-1, n_modes).max(0))
    return terms, change


def bound_terms(
    costs: Float32s, total_support: Float32s, support: Float32s, values: Float32s, layout: Layout,
    pixels: tuple[int, int], *, bias: Float32s | None = None,
) -> Floats:  # fmt: skip
    """(3, K) support, cost (of ``bias`` too) and minus the entropy of pixels ``first`` to ``last`` with ``values``."""
    (first, last), n_modes = pixels, layout.n_modes
    terms = np.zeros((3, n_modes))
    extra = np.empty((len(costs), 0), np.float32) if bias is None else bias
    if bias is None and _label_vectors(costs, extra, layout):
        end = min(last, len(costs) - 1)
        kernels.pixel_rows.bound_terms(costs, support, values, first, end, terms[:, 0])
        support, values, first = support[end - first :], values[end - first :], end
    if first < last:
        columns = _columns(3, n_modes)
        kernels.softmax.bound_terms(
            costs, extra, total_support, support, values, layout.stored, n_modes, np.int64(first), last, columns
        )
        terms += _summed(columns, n_modes)
    return terms


def _label_vectors(costs: Float32s, bias: Float32s, layout: Layout) -> bool:
    """Whether one pixel's labels are processed together, instead of one label of many pixels."""
    return layout.n_modes == 1 and bias.shape[1] == 0 and MANY_LABELS <= costs.shape[1] == layout.stored


def _columns(terms: int, n_modes: int) -> Floats:
    """Zeros (terms, s * K): a column for each mode of the s pixels, a multiple of eight, that go together."""
    return np.zeros((terms, max(1, COLUMNS // (8 * n_modes)) * 8 * n_modes))


def _summed(columns: Floats, n_modes: int) -> Floats:
    """(terms, K) sums over the columns of each mode."""
    return np.asarray(columns.reshape(len(columns), -1, n_modes).sum(1))
