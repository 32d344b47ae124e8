"""Parallel updates of dense CRFs: one filtering of all modes and labels per iteration.

For attractive kernels the update ``q <- softmax(-local_field / T)`` is a convex-concave step: it minimises the entropy
term plus the tangent of the concave rest, so that the free energy cannot rise (Krähenbühl and Koltun, 2013).  It is
watched all the same, at no cost: the filtering that makes the next update also gives the free energy of the last.  A
mode whose free energy rises takes half steps from there on.

Soon only few pixels still move.  These are updated on their own between two updates of the whole field, which decide
when a mode has converged and what its probabilities are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads, kernels
from mixfield.energy.channels import room, space
from mixfield.energy.dense_crf import DenseCRF
from mixfield.energy.unary import FORBIDDEN
from mixfield.meanfield.ascent import Ascent
from mixfield.meanfield.tilt import Tilt

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]

SETTLED = 1e-3  # change at which a dense field counts as converged if nobody says: A_k is within tenths of a nat
SINGLE = 1e-6  # smallest change that single precision can tell
RISE = 1e-6  # of its size; single precision cannot tell smaller changes of the free energy
FINE = 1e-2  # change below which the filters are no longer rough
FEW = 0.15  # share of moving pixels below which they are updated on their own
SAMPLED = 101  # of so many pixels one tells whether it is worth to look at all; odd, to see all columns of an image
INNER = 8  # such updates between two of the whole field
MANY = 8  # labels from which those of a pixel are updated together
TOGETHER = 256  # modes of pixels that are updated together: contiguous numbers, whatever the number of modes
SMALL = 1 << 14  # pixels up to which every update is an exact one of the whole field


def no_bias(crf: DenseCRF) -> Float32s:
    """No additional costs: (n, 0)."""
    return np.empty((crf.n, 0), np.float32)


def bias_of(tilt: Tilt) -> Float32s:
    """Additional costs of a tilt as channels (n, L * K), in single precision; (n, 0) if all are zero."""
    costs = np.minimum(tilt.bias, FORBIDDEN).astype(np.float32)
    mine = costs[tilt.bias_of] if costs.any() else costs[:0]
    return np.ascontiguousarray(mine.transpose(1, 2, 0)).reshape(costs.shape[1], -1)


def pack(crf: DenseCRF, q: NDArray[np.floating]) -> Float32s:
    """Marginals (K, n, L) as channels (n, channels * K, rounded up): the modes side by side, label after label."""
    values = room(crf.n, crf.width(len(q)))
    by_label(crf, values, len(q))[:] = q[..., : crf.channels].transpose(1, 2, 0)
    return values


def unpack(crf: DenseCRF, values: Float32s, n_modes: int) -> NDArray[Any]:
    """Channels (n, channels * K, rounded up) as marginals (K, n, L)."""
    return _completed(crf.costs, by_label(crf, values, n_modes).transpose(2, 0, 1))


def members(
    crf: DenseCRF, values: Float32s, n_modes: int, mode: int, points: NDArray[np.int64], labels: NDArray[np.int64]
) -> Float32s:
    """(p,) probabilities of one label of each of some pixels in one of the modes."""
    known, n_labels = by_label(crf, values, n_modes)[..., mode], crf.n_labels
    if crf.channels == n_labels or not (labels == n_labels - 1).any():
        return np.asarray(known[points, labels])
    return np.asarray(_completed(crf.costs[points], known[points])[np.arange(len(points)), labels])


def _completed(costs: Float32s, known: Float32s) -> Float32s:
    """Probabilities (..., n, channels) of all or all but the last of the labels, as those of all (..., n, L)."""
    channels, n_labels = known.shape[-1], costs.shape[-1]
    q = np.empty((*known.shape[:-1], n_labels), np.float32)
    q[..., :channels] = known
    if channels < n_labels:
        rest = 1.0 - sum(q[..., c] for c in range(channels))
        q[..., -1] = np.where(costs[:, -1] < FORBIDDEN, np.maximum(0.0, rest), 0.0)
    return q


def columns(crf: DenseCRF, values: Float32s, n_modes: int, modes: NDArray[np.intp]) -> Float32s:
    """Channels of some of the modes."""
    some = room(crf.n, crf.width(len(modes)))
    by_label(crf, some, len(modes))[:] = by_label(crf, values, n_modes)[..., modes]
    return some


def by_label(crf: DenseCRF, values: Float32s, n_modes: int) -> Float32s:
    """Channels as (n, channels, K), the same memory."""
    return values[:, : n_modes * crf.channels].reshape(crf.n, crf.channels, n_modes)


def labelings(crf: DenseCRF, values: Float32s, n_modes: int, threads: int) -> NDArray[np.int32]:
    """(K, n) the most probable label of each pixel in each mode."""
    labels = np.empty((n_modes, crf.n), np.int32)

    def work(first: int, last: int) -> None:
        kernels.softmax.likeliest(crf.costs, values, crf.channels, n_modes, first, last, labels)

    _threads.split(work, crf.n, threads, updates=values.size)
    return labels


class Iteration:
    """One crf, some modes, and the memory to update them again and again.

    With ``watch`` the changes, the free energy and the support of every pixel are kept; without, only updates are made.
    """

    def __init__(self, crf: DenseCRF, n_modes: int, bias: Float32s, *, threads: int, watch: bool = True) -> None:
        self.crf, self.n_modes, self.bias, self.threads, self.watch = crf, n_modes, bias, threads, watch
        self.spaces = crf.workspaces(crf.width(n_modes))
        few = crf.channels < crf.n_labels
        silence = np.zeros(crf.n, np.float32)
        self.shared = crf.shared_support if few else (silence, silence)
        self.support = space(crf.n, crf.width(n_modes)) if watch else None
        self.keeping = watch  # the support, for pixels that will move alone
        self.moving = np.inf  # share of pixels that moved

    def start(self, cooling: Float32s) -> Float32s:
        """Channels of the modes when pixels do not hear of each other."""
        crf, self.keeping = self.crf, False  # at first nearly all will move
        values = room(crf.n, crf.width(self.n_modes))
        silence = np.zeros(crf.n, np.float32)

        def work(begin: int, end: int) -> None:
            for band in crf.bands[begin:end]:
                nothing = np.zeros_like(values[slice(*band)])
                _update(crf.costs, self.bias, silence, nothing, values, crf.channels, cooling, band, values)

        _threads.split(work, len(crf.bands), self.threads, updates=values.size)
        return values

    def step(
        self, old: Float32s, cooling: Float32s, new: Float32s, *, rough: bool = False, alike: bool = False
    ) -> tuple[Floats, Floats]:
        """Update; returns (K, 3) support of ``old``, cost and entropy of ``new``, and (K,) the largest changes.

        Modes that are all ``alike`` are filtered as one.
        """
        crf, shared = self.crf, self.shared[rough]
        parts: list[tuple[Floats, Floats]] = [(np.empty(0), np.empty(0))] * len(self.crf.bands)

        def hear(band: int, first: int, last: int, support: Float32s) -> None:
            parts[band] = _update(
                crf.costs, self.bias, shared, support, old, crf.channels, cooling, (first, last), new, watch=self.watch
            )

        keep = self.support if self.keeping else None
        if alike:
            self._listen_as_one(old, hear, keep, rough=rough)
        else:
            crf.listen(old, self.n_modes, self.spaces, self.threads, hear, keep=keep, rough=rough)
        sums, change = zip(*parts, strict=True)
        return np.sum(sums, axis=0), np.max(change, axis=0) if self.watch else np.full(self.n_modes, np.inf)

    def _listen_as_one(
        self, old: Float32s, hear: Callable[[int, int, int, Float32s], None], keep: Float32s | None, *, rough: bool
    ) -> None:
        """`DenseCRF.listen` for modes that are all alike."""
        crf, n_modes = self.crf, self.n_modes
        first_mode = columns(crf, old, n_modes, np.zeros(1, np.intp))

        def hear_all(band: int, first: int, last: int, one: Float32s) -> None:
            every = space(last - first, old.shape[1]) if keep is None else keep[first:last]
            every[:, n_modes * crf.channels :] = 0.0
            every[:, : n_modes * crf.channels] = np.repeat(one[:, : crf.channels], n_modes, axis=1)
            hear(band, first, last, every)

        crf.listen(first_mode, 1, crf.workspaces(crf.width(1)), self.threads, hear_all, rough=rough)

    def settle_movers(
        self, old: Float32s, cooling: Float32s, new: Float32s, threshold: float, *, rough: bool, most: int
    ) -> tuple[Floats, int]:
        """After a `step`, go on with the pixels that still move, in place, the others standing still.

        Returns (K, 2), how much the cost and the entropy of ``new`` rise by that, and the updates made, at ``most``.
        """
        share, kept = SAMPLED * len(self._movers(old, new, threshold, SAMPLED)) / self.crf.n, self.keeping
        self.keeping = share * min(1.0, share / self.moving) <= 2 * FEW  # to be expected next time
        self.moving = max(share, 1e-9)
        movers = (
            self._movers(old, new, threshold, 1) if kept and share < 2 * FEW and most > 0 else np.empty(0, np.int64)
        )
        if not 0 < len(movers) <= FEW * self.crf.n:
            return np.zeros((self.n_modes, 2)), 0
        heard = self.crf.region(movers, self.n_modes, self.threads)
        assert self.support is not None
        base, origin, values = self.support[movers], old[movers], new[movers]
        costs, bias, shared = self.crf.costs[movers], self.bias[movers], self.shared[rough][movers]
        channels = self.crf.channels
        made = 0
        while made < min(INNER, most):
            made += 1
            support = base + heard(values - origin)
            better = np.zeros_like(values)
            _, change = _update(costs, bias, shared, support, values, channels, cooling, (0, len(movers)), better)
            values = better
            if change.max() < threshold:
                break
        terms = self._terms(movers, values) - self._terms(movers, new[movers])
        new[movers] = values
        return terms, made

    def _movers(self, old: Float32s, new: Float32s, threshold: float, every: int) -> NDArray[np.int64]:
        """Pixels, of ``every`` so many, of which a number changes by more than ``threshold``."""
        parts: dict[int, NDArray[np.int64]] = {}

        def work(first: int, last: int) -> None:
            parts[first] = kernels.softmax.movers(old, new, np.float32(threshold), every, first, last)

        _threads.split(work, len(old), self.threads, updates=old.size / (4 * every))
        return np.concatenate([parts[first] for first in sorted(parts)])

    def _terms(self, points: NDArray[np.int64], values: Float32s) -> Floats:
        """(K, 2) cost, bias included, and entropy of some pixels with probabilities ``values`` (p, C)."""
        crf, silence, seen = self.crf, np.zeros(len(points), np.float32), _columns(3, self.n_modes)
        costs, bias, zero = crf.costs[points], self.bias[points], np.int64(0)
        kernels.softmax.bound_terms(
            costs, bias, silence, values, values, crf.channels, self.n_modes, zero, len(points), seen
        )
        _, cost, information = _folded(seen, self.n_modes)
        return np.stack([cost, -information], 1)

    def bounds(self, values: Float32s, temperature: float = 1.0) -> Floats:
        """(K,) H - E / T without bias, in float64."""
        crf = self.crf
        nothing, terms = no_bias(crf), np.zeros((len(crf.bands), 3, self.n_modes))

        def hear(band: int, first: int, last: int, support: Float32s) -> None:
            if _by_rows(crf.costs, nothing, self.n_modes, crf.channels):
                end = min(last, crf.n - 1)  # rows of costs are read a little beyond their end
                kernels.pixel_rows.bound_terms(crf.costs, support, values, first, end, terms[band, :, 0])
                support, first = support[end - first :], end
            if first < last:
                seen = _columns(3, self.n_modes)
                kernels.softmax.bound_terms(
                    crf.costs,
                    nothing,
                    self.shared[True],
                    support,
                    values,
                    crf.channels,
                    self.n_modes,
                    first,
                    last,
                    seen,
                )
                terms[band] += _folded(seen, self.n_modes)

        # one order of the directions is enough: both give the same quadratic form
        crf.listen(values, self.n_modes, self.spaces, self.threads, hear, rough=True)
        support, cost, information = terms.sum(0)
        return np.asarray(-information - (float(crf.least.sum()) + cost - 0.5 * support) / temperature)


def _update(
    costs: Float32s,
    bias: Float32s,
    shared: Float32s,
    support: Float32s,
    old: Float32s,
    channels: int,
    cooling: Float32s,
    pixels: tuple[int, int],
    new: Float32s,
    *,
    watch: bool = True,
) -> tuple[Floats, Floats]:
    """One update of some pixels: (K, 3) support of ``old``, cost and entropy of ``new``, and (K,) largest changes."""
    n_modes, sums, change, (first, last) = len(cooling), np.zeros((3, len(cooling))), np.zeros(len(cooling)), pixels
    if _by_rows(costs, bias, n_modes, channels):
        end = min(last, len(costs) - 1)  # rows of costs are read a little beyond their end
        kernels.pixel_rows.update(costs, support, old, cooling[0], watch, first, end, new, sums.reshape(-1), change)
        support, first = support[end - first :], end
    if first < last:
        seen, (moved,) = _columns(3, n_modes), _columns(1, n_modes).astype(np.float32)
        kernels.softmax.update(
            costs, bias, shared, support, old, channels, cooling, watch, first, last, new, seen, moved
        )
        sums += _folded(seen, n_modes)
        change = np.maximum(change, moved.reshape(-1, n_modes).max(0))
    return sums.T, change


def _by_rows(costs: Float32s, bias: Float32s, n_modes: int, channels: int) -> bool:
    """Whether the labels of a pixel are so many that they are treated together, instead of those of many pixels."""
    return n_modes == 1 and bias.shape[1] == 0 and MANY <= costs.shape[1] == channels


def _columns(terms: int, n_modes: int) -> Floats:
    """Room for sums (terms, s * K), one column for each of the modes of the s pixels that kernels treat together.

    Kernels take eight columns at a time, so that s is a multiple of eight.
    """
    return np.zeros((terms, max(1, TOGETHER // (8 * n_modes)) * 8 * n_modes))


def _folded(seen: Floats, n_modes: int) -> Floats:
    """(terms, K) sums of all columns of each mode."""
    return np.asarray(seen.reshape(len(seen), -1, n_modes).sum(1))


def ascend(
    crf: DenseCRF,
    q: NDArray[np.floating],
    tilt: Tilt,
    *,
    temperature: Floats,
    tolerance: float,
    max_iterations: int,
    threads: int,
) -> Ascent:
    """Update a batch of modes (K, n, L) to convergence."""
    iteration = Iteration(crf, len(q), bias_of(tilt), threads=threads)
    values, run = climb(iteration, pack(crf, q), temperature, tolerance=tolerance, max_iterations=max_iterations)
    return Ascent(unpack(crf, values, len(q)), run.iterations, run.change, run.converged)


@dataclass(frozen=True)
class Climb:
    """How the updates went.

    Attributes
    ----------
    iterations, change, converged : (K,) updates, those of moving pixels alone included; the largest change of the last
        one, which is of the whole field, and whether it was below the tolerance.
    free_energies : (whole updates, K) before each update of the whole field; NaN where it is not known.
    """

    iterations: NDArray[np.int32]
    change: Floats
    converged: NDArray[np.bool_]
    free_energies: Floats


def climb(
    iteration: Iteration,
    values: Float32s,
    temperature: Floats,
    *,
    tolerance: float,
    max_iterations: int,
    alike: bool = False,
) -> tuple[Float32s, Climb]:
    """Update channels (n, channels * K) until no marginal moves by more than ``tolerance``.

    ``alike`` says that all modes begin at the same point.
    """
    n_modes, heat = iteration.n_modes, np.asarray(temperature, np.float64)
    cooling = (1.0 / heat).astype(np.float32)
    old, new = values, room(*values.shape)
    made, change = 0, np.full(n_modes, np.inf)
    damped, free = np.zeros(n_modes, bool), np.full(n_modes, np.inf)
    history, rough = [], iteration.crf.n > SMALL
    unary = np.full((n_modes, 2), np.nan)
    while made < max_iterations:
        sums, change = iteration.step(old, cooling, new, rough=rough, alike=alike)
        known = unary[:, 0] - 0.5 * sums[:, 0] - heat * unary[:, 1]  # of ``old``, whose support is known only now
        history.append(known)
        risen = known > free + RISE * np.maximum(1.0, np.abs(free))
        damped |= risen & (not rough)
        free = np.where(np.isnan(known), free, known)
        unary = sums[:, 1:]
        made, alike = made + 1, False
        if (change <= tolerance).all() and not (rough and tolerance < FINE):
            old, new = new, old
            break
        if damped.any():
            _halve(iteration, old, new, damped)
            unary[damped] = np.nan
        elif iteration.watch and iteration.crf.n > SMALL:
            threshold, most = max(tolerance, SETTLED), max_iterations - made - 1  # the last is one of the whole field
            terms, inner = iteration.settle_movers(old, cooling, new, threshold, rough=rough, most=most)
            unary, made = unary + terms, made + inner
        rough = rough and bool((change > FINE).any()) and not risen.any()
        old, new = new, old
    return old, Climb(np.full(n_modes, made, np.int32), change, change <= tolerance, np.array(history))


def _halve(iteration: Iteration, old: Float32s, new: Float32s, damped: NDArray[np.bool_]) -> None:
    """Take only half of the step, in place."""
    some = np.flatnonzero(np.tile(damped, iteration.crf.channels))
    new[:, some] = 0.5 * (new[:, some] + old[:, some])
