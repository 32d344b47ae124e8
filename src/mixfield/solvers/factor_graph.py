"""Coloured coordinate ascent for factor graphs: every step lowers the free energy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads, kernels
from mixfield.energy.factor_graph import FactorGraph
from mixfield.solvers.ascent import Ascent
from mixfield.solvers.tilt import Tilt

if TYPE_CHECKING:
    from mixfield.kernels.counts import FlatCounts

Floats = NDArray[np.float64]

LARGE = 1 << 17  # from this many variables on, threads share a colour instead of the modes


def ascend(
    graph: FactorGraph,
    q: Floats,
    tilt: Tilt,
    *,
    penalty: float,
    temperature: Floats,
    tolerance: float,
    max_iterations: int,
    threads: int,
) -> Ascent:
    """Sweep a batch of modes (K, n, L) to convergence.

    ``penalty`` is the price of a forbidden state of a factor.  The free energy, potentials of the tilt included,
    falls with every update of a variable, so it falls along the whole run.
    """
    walker = _walker(graph, q, tilt, penalty)
    beta = 1.0 / temperature
    sweeps, changes = np.zeros(len(q), np.int32), np.full(len(q), np.inf)
    if len(q) < threads and graph.n >= LARGE and not any(tilt.counts):
        for k in range(len(q)):
            while sweeps[k] < max_iterations and changes[k] > tolerance:
                changes[k] = _sweep_by_color(graph, partial(walker.update, k, float(beta[k])), threads)
                sweeps[k] += 1
    else:
        _threads.split(
            lambda a, b: walker.ascend(beta, tolerance, max_iterations, a, b, sweeps, changes),
            len(q),
            threads,
            updates=10.0 * len(q) * graph.n,  # a guess at the number of sweeps
        )
    return Ascent(walker.marginals(), sweeps, changes, changes <= tolerance)


def draw(
    graph: FactorGraph,
    q: Floats,
    tilt: Tilt,
    *,
    penalty: float,
    temperatures: Floats,
    seeds: NDArray[np.uint64],
    threads: int,
) -> Floats:
    """Cool a batch of labelings (K, n, L one-hot) by Gibbs sampling, one sweep per temperature."""
    walker = _walker(graph, q, Tilt(tilt.bias, tilt.bias_of), penalty)
    updates = float(len(q) * graph.n * len(temperatures))
    _threads.split(lambda a, b: walker.draw(1.0 / temperatures, seeds, a, b), len(q), threads, updates=updates)
    return walker.marginals()


def _sweep_by_color(graph: FactorGraph, update: Callable[[int, int], float], threads: int) -> float:
    """One sweep of one mode, threads sharing each colour."""
    changes: list[float] = []
    for first, last in pairwise(graph.color_start.tolist()):

        def part(a: int, b: int, first: int = first) -> None:
            changes.append(update(first + a, first + b))

        _threads.split(part, last - first, threads, updates=float(last - first))
    return max(changes, default=0.0)


class _Walker(Protocol):
    """One form of the graph and of the state of all modes, and the kernels that go with it."""

    def ascend(
        self,
        beta: Floats,
        tolerance: float,
        max_sweeps: int,
        first: int,
        last: int,
        sweeps: NDArray[np.int32],
        changes: Floats,
    ) -> None: ...
    def update(self, k: int, beta: float, first: int, last: int) -> float: ...
    def draw(self, betas: Floats, seeds: NDArray[np.uint64], first: int, last: int) -> None: ...
    def marginals(self) -> Floats: ...


def _walker(graph: FactorGraph, q: Floats, tilt: Tilt, penalty: float) -> _Walker:
    return _Logits(graph, q, tilt, penalty) if graph.is_binary_pairwise else _Tables(graph, q, tilt, penalty)


class _Logits:
    """Binary pairwise graphs: one number per variable."""

    def __init__(self, graph: FactorGraph, q: Floats, tilt: Tilt, penalty: float) -> None:
        form = graph.binary(penalty)
        costs = graph.unary + tilt.bias
        self.graph, self.order = form.graph, form.order
        self.biases = (costs[:, :, 1] - costs[:, :, 0])[:, form.order] + form.slope
        self.bias_of = tilt.bias_of
        self.p = np.ascontiguousarray(q[:, form.order, 1])
        self.counts = _renumbered(tilt.flat_counts(), form.order) if any(tilt.counts) else None

    def ascend(
        self,
        beta: Floats,
        tolerance: float,
        max_sweeps: int,
        first: int,
        last: int,
        sweeps: NDArray[np.int32],
        changes: Floats,
    ) -> None:
        limits = (beta, tolerance, max_sweeps, first, last, self.p, sweeps, changes)
        if self.counts is None:
            kernels.binary.ascend(self.graph, self.biases, self.bias_of, *limits)
        else:
            kernels.binary.ascend_counted(self.graph, self.biases, self.bias_of, self.counts, *limits)

    def update(self, k: int, beta: float, first: int, last: int) -> float:
        return float(kernels.binary.update(self.graph, self.biases[self.bias_of[k]], beta, first, last, self.p[k]))

    def draw(self, betas: Floats, seeds: NDArray[np.uint64], first: int, last: int) -> None:
        kernels.binary.draw(self.graph, self.biases, self.bias_of, betas, seeds, first, last, self.p)

    def marginals(self) -> Floats:
        q = np.empty((*self.p.shape, 2))
        q[:, self.order, 0] = 1.0 - self.p
        q[:, self.order, 1] = self.p
        return q


def _renumbered(counts: FlatCounts, order: NDArray[np.int32]) -> FlatCounts:
    """Count potentials whose members go by their places in ``order``."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order), dtype=order.dtype)
    return counts._replace(member=place[counts.member].astype(np.int32))


class _Tables:
    """Any factor graph: one number per label."""

    def __init__(self, graph: FactorGraph, q: Floats, tilt: Tilt, penalty: float) -> None:
        self.graph = graph.flat(penalty)
        self.unaries = graph.unary + tilt.bias
        self.unary_of = tilt.bias_of
        self.counts = tilt.flat_counts()
        self.q = q.copy()

    def ascend(
        self,
        beta: Floats,
        tolerance: float,
        max_sweeps: int,
        first: int,
        last: int,
        sweeps: NDArray[np.int32],
        changes: Floats,
    ) -> None:
        costs = (self.graph, self.unaries, self.unary_of, self.counts)
        kernels.sweeps.ascend(*costs, beta, tolerance, max_sweeps, first, last, self.q, sweeps, changes)

    def update(self, k: int, beta: float, first: int, last: int) -> float:
        return float(kernels.sweeps.update(self.graph, self.unaries[self.unary_of[k]], beta, first, last, self.q[k]))

    def draw(self, betas: Floats, seeds: NDArray[np.uint64], first: int, last: int) -> None:
        kernels.sweeps.draw(self.graph, self.unaries, self.unary_of, betas, seeds, first, last, self.q)

    def marginals(self) -> Floats:
        return self.q
