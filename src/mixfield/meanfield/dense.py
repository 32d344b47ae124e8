"""Parallel updates of dense CRFs: one filtering of all modes and labels per iteration.

For attractive kernels the update ``q <- softmax(-local_field / T)`` is a convex-concave step: it minimises the entropy
term plus the tangent of the concave rest, so that the free energy cannot rise (Krähenbühl and Koltun, 2013).  It is
watched all the same, at no cost: the filtering that makes the next update also gives the free energy of the last.  A
mode whose free energy rises takes half steps from there on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads, kernels
from mixfield.energy.dense_crf import FORBIDDEN, DenseCRF
from mixfield.meanfield.ascent import Ascent
from mixfield.meanfield.tilt import Tilt

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]

SINGLE = 1e-5  # smallest change that a field in single precision can be asked to settle to
RISE = 1e-6  # of its size; single precision cannot tell smaller changes of the free energy


@dataclass(frozen=True)
class Bias:
    """Additional costs (M, n, L), and which of them belongs to each mode (-1: none)."""

    costs: Float32s
    of: NDArray[np.int32]

    @staticmethod
    def from_tilt(tilt: Tilt) -> Bias:
        costs = np.minimum(tilt.bias, FORBIDDEN).astype(np.float32)
        real = costs.any(axis=(1, 2))
        return Bias(
            np.ascontiguousarray(costs[real]), np.where(real, np.cumsum(real) - 1, -1)[tilt.bias_of].astype(np.int32)
        )

    @staticmethod
    def none(crf: DenseCRF, n_modes: int) -> Bias:
        return Bias(np.empty((0, *crf.costs.shape), np.float32), np.full(n_modes, -1, np.int32))


def pack(crf: DenseCRF, q: NDArray[np.floating]) -> Float32s:
    """Marginals (K, n, L) as channels (n, K * channels)."""
    size = len(q) * crf.channels
    values = np.zeros((crf.n, crf.width(len(q))), np.float32)
    values[:, :size] = np.moveaxis(q[..., : crf.channels], 0, 1).reshape(crf.n, size)
    return values


def unpack(crf: DenseCRF, values: Float32s, n_modes: int) -> NDArray[Any]:
    """Channels (n, K * channels) as marginals (K, n, L)."""
    q = np.empty((n_modes, crf.n, crf.n_labels), np.float32)
    size = n_modes * crf.channels
    q[..., : crf.channels] = np.moveaxis(values[:, :size].reshape(crf.n, n_modes, crf.channels), 1, 0)
    if crf.channels < crf.n_labels:
        q[..., -1] = np.maximum(0.0, 1.0 - q[..., :-1].sum(-1))
    return q


class Iteration:
    """One crf, some modes, and the memory to update them again and again."""

    def __init__(self, crf: DenseCRF, n_modes: int, bias: Bias, *, threads: int, watch: bool = True) -> None:
        self.crf, self.n_modes, self.bias, self.threads, self.watch = crf, n_modes, bias, threads, watch
        self.spaces = crf.workspaces(crf.width(n_modes))

    def start(self, cooling: Float32s) -> Float32s:
        """Channels of the modes when pixels do not hear of each other."""
        crf = self.crf
        values = np.zeros((crf.n, crf.width(self.n_modes)), np.float32)
        silence = np.zeros(crf.n, np.float32)

        def work(begin: int, end: int) -> None:
            for first, last in crf.bands[begin:end]:
                self._update(np.zeros_like(values[first:last]), silence, values, cooling, first, last, values)

        _threads.split(work, len(crf.bands), self.threads, updates=values.size)
        return values

    def step(self, old: Float32s, cooling: Float32s, new: Float32s) -> tuple[Floats, Floats]:
        """Update; returns (K, 3) support of ``old``, cost and entropy of ``new``, and (K,) the largest changes."""
        shared = self._shared()
        parts: list[tuple[Floats, Floats]] = [(np.empty(0), np.empty(0))] * len(self.crf.bands)

        def hear(band: int, first: int, last: int, support: Float32s) -> None:
            parts[band] = self._update(support, shared, old, cooling, first, last, new)

        self.crf.listen(old, self.n_modes, self.spaces, self.threads, hear)
        sums, change = zip(*parts, strict=True)
        return np.sum(sums, axis=0), np.max(change, axis=0) if self.watch else np.full(self.n_modes, np.inf)

    def _update(
        self,
        support: Float32s,
        shared: Float32s,
        old: Float32s,
        cooling: Float32s,
        first: int,
        last: int,
        new: Float32s,
    ) -> tuple[Floats, Floats]:
        sums, change = np.zeros((self.n_modes, 3)), np.zeros(self.n_modes)
        costs, bias = self.crf.costs, self.bias
        kernels.softmax.update(
            costs,
            bias.costs,
            bias.of,
            shared,
            support,
            old,
            self.crf.channels,
            cooling,
            self.watch,
            first,
            last,
            new,
            sums,
            change,
        )
        return sums, change

    def _shared(self) -> Float32s:
        crf = self.crf
        return crf.shared_support if crf.channels < crf.n_labels else np.zeros(crf.n, np.float32)

    def bounds(self, values: Float32s, temperature: float = 1.0) -> Floats:
        """(K,) H - E / T without bias, in float64."""
        crf, shared = self.crf, self._shared()
        sums = np.zeros((len(crf.bands), self.n_modes, 3))

        def hear(band: int, first: int, last: int, support: Float32s) -> None:
            kernels.softmax.bound_terms(
                crf.costs, shared, support, values, crf.channels, self.n_modes, first, last, sums[band]
            )

        crf.listen(values, self.n_modes, self.spaces, self.threads, hear)
        support, cost, entropy = sums.sum(0).T
        return np.asarray(entropy - (cost - 0.5 * support) / temperature)


def bounds(crf: DenseCRF, q: NDArray[np.floating], temperature: float, threads: int) -> Floats:
    """(K,) H - E / T of marginals (K, n, L)."""
    iteration = Iteration(crf, len(q), Bias.none(crf, len(q)), threads=threads)
    return iteration.bounds(pack(crf, q), temperature)


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
    iteration = Iteration(crf, len(q), Bias.from_tilt(tilt), threads=threads)
    values, run = climb(iteration, pack(crf, q), temperature, tolerance=tolerance, max_iterations=max_iterations)
    return Ascent(unpack(crf, values, len(q)), run.iterations, run.change, run.converged)


@dataclass(frozen=True)
class Climb:
    """How the updates went: iterations, last change and convergence of each mode, free energies after each update."""

    iterations: NDArray[np.int32]
    change: Floats
    converged: NDArray[np.bool_]
    free_energies: Floats


def climb(
    iteration: Iteration, values: Float32s, temperature: Floats, *, tolerance: float, max_iterations: int
) -> tuple[Float32s, Climb]:
    """Update channels (n, K * channels) until no marginal moves by more than ``tolerance``."""
    n_modes, heat = iteration.n_modes, np.asarray(temperature, np.float64)
    cooling = (1.0 / heat).astype(np.float32)
    old, new = values, np.empty_like(values)
    iterations, change = np.zeros(n_modes, np.int32), np.full(n_modes, np.inf)
    damped, free = np.zeros(n_modes, bool), np.full(n_modes, np.inf)
    history = []
    unary = np.full((n_modes, 2), np.nan)
    for _ in range(max_iterations):
        sums, change = iteration.step(old, cooling, new)
        known = unary[:, 0] - 0.5 * sums[:, 0] - heat * unary[:, 1]  # of ``old``, whose support is known only now
        history.append(known)
        damped |= known > free + RISE * np.maximum(1.0, np.abs(free))
        free = np.where(np.isnan(known), np.inf, known)
        unary = sums[:, 1:]
        iterations += 1
        if damped.any():
            _halve(iteration, old, new, damped)
            unary[damped] = np.nan
        old, new = new, old
        if (change <= tolerance).all():
            break
    return old, Climb(iterations, change, change <= tolerance, np.array(history))


def _halve(iteration: Iteration, old: Float32s, new: Float32s, damped: NDArray[np.bool_]) -> None:
    """Take only half of the step, in place."""
    columns = np.flatnonzero(np.repeat(damped, iteration.crf.channels))
    new[:, columns] = 0.5 * (new[:, columns] + old[:, columns])
