"""Labels that cannot matter: left out with a bound on what they could have had."""

from __future__ import annotations

import math
import mmap
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays, _threads, kernels
from mixfield.energy.dense_crf import DenseCRF

Floats = NDArray[np.float64]

SHARES = 16  # blocks of pixels, for load balancing
WEAK = 0.2  # share of `negligible` up to which the sum of largest ratios decides, without a look at each pixel


def active_labels(crf: DenseCRF) -> tuple[NDArray[np.int64], float]:
    """Labels worth keeping, and a bound on the probability that mean field would give all others at any pixel.

    Notes
    -----
    Let r_l(i) = exp(min_l' U_l'(i) - U_l(i)) and rho_l its largest value.  If q_l <= Q everywhere, the support of label
    l is at most Gamma Q (Gamma the largest sum of a row of the kernels), that of the best label at least 0, and the
    update gives q_l(i) <= r_l(i) exp(Gamma Q).  So a Q with rho_l exp(Gamma Q) <= Q is never exceeded, by any number of
    updates that start at softmax(-U); there is one if rho_l <= 1 / (e Gamma).  Labels are left out, the weakest first,
    while the sum of their bounds stays below ``crf.negligible`` at every pixel.
    """
    everything = np.arange(crf.n_labels)
    if crf.negligible <= 0 or crf.n_labels < 2 or not crf.is_potts or not crf.is_attractive:
        return everything, 0.0
    ratio = _largest_ratios(crf)
    # the largest eigenvalue of a kernel is at most its largest row sum, which costs a filtering
    if not (
        ratio * math.e * max((coupling.strength for coupling in crf.couplings if coupling.normalized), default=0.0) <= 1
    ).any():
        return everything, 0.0
    gamma = float(crf.total_support[0].max(initial=0.0))
    candidates = np.flatnonzero(ratio * math.e * gamma <= 1.0)
    if len(candidates) == 0:
        return everything, 0.0
    candidates = candidates[np.argsort(ratio[candidates], kind="stable")]
    factor = np.exp(gamma * _fixed_points(ratio[candidates], gamma))
    totals = np.cumsum(factor * ratio[candidates])  # as if all had their largest value at the same pixel
    weak = int(np.searchsorted(totals, WEAK * crf.negligible, side="right"))
    totals[weak:] = totals[weak - 1 : weak].sum() + _largest_totals(crf, candidates[weak:], factor[weak:])
    kept = int(np.searchsorted(totals, crf.negligible, side="right"))
    kept = min(kept, crf.n_labels - 1)
    return np.setdiff1d(everything, candidates[:kept]), float(totals[kept - 1]) if kept else 0.0


def restored(marginals: NDArray[Any], labels: NDArray[np.int64], n_labels: int) -> NDArray[Any]:
    """Marginals (..., len(labels)) among all labels (..., L): those left out have probability zero."""
    among_all = zero_planes(n_labels, marginals.shape[:-1], marginals.dtype)
    for place, label in enumerate(labels):
        among_all[..., label] = marginals[..., place]
    return _arrays.frozen(among_all)


def zero_planes(n_labels: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Zeros (*shape, L), one label after the other in memory; only the pages that are written to take any.

    NumPy asks for huge pages, of which one label would claim the memory of others too.
    """
    private = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
    memory = mmap.mmap(-1, n_labels * math.prod(shape) * dtype.itemsize, **private)
    return np.moveaxis(np.frombuffer(memory, dtype).reshape(n_labels, *shape), 0, -1)


def _fixed_points(ratio: Floats, gamma: float) -> Floats:
    """The smallest Q with ratio * exp(gamma * Q) = Q, approached from below and rounded up."""
    bound = ratio.copy()
    for _ in range(200):
        bound = ratio * np.exp(gamma * bound)
    return np.minimum(bound * 1.001, 1.0)


def _largest_ratios(crf: DenseCRF) -> Floats:
    """(L,) largest exp(min U - U) of each label."""
    gaps = np.full((SHARES, crf.n_labels), np.inf, np.float32)
    _share(crf, lambda share, first, last: kernels.softmax.smallest_gaps(crf.costs, first, last, gaps[share]))
    return np.exp(-gaps.min(0).astype(np.float64))


def _largest_totals(crf: DenseCRF, labels: NDArray[np.int64], factor: Floats) -> Floats:
    """(len(labels),) largest sum over the first k of ``labels`` of factor * exp(min U - U), for every k."""
    totals = np.zeros((SHARES, len(labels)))
    _share(
        crf,
        lambda share, first, last: kernels.softmax.largest_totals(
            crf.costs, labels, factor, first, last, totals[share]
        ),
    )
    return totals.max(0)


def _share(crf: DenseCRF, look: Callable[[int, int, int], None]) -> None:
    """Look at the pixels of every share: ``look(share, first, last)``."""

    def work(share: int) -> None:
        look(share, crf.n * share // SHARES, crf.n * (share + 1) // SHARES)

    _threads.each(work, SHARES, _threads.available(), updates=crf.costs.size)
