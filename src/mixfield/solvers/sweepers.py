"""The graph and the state of all modes in the form that one family of kernels takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from mixfield import kernels
from mixfield.energy.factor_graph import FactorGraph
from mixfield.solvers.starts import one_hot
from mixfield.solvers.tilt import Tilt

if TYPE_CHECKING:
    from mixfield.kernels.counts import FlatCounts

Floats = NDArray[np.float64]


class Sweeper(Protocol):
    """The graph and the state of all modes in the form that one family of kernels takes."""

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


def sweeper_of(graph: FactorGraph, q: Floats, tilt: Tilt, penalty: float) -> Sweeper:
    """The sweeper of a graph, for marginals (K, n, L), with ``penalty`` as the cost of forbidden joint states."""
    return BinarySweeper(graph, q, tilt, penalty) if graph.has_binary_form else TableSweeper(graph, q, tilt, penalty)


class BinarySweeper:
    """Binary graphs: one number per variable."""

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
    """Count potentials with members numbered by their places in ``order``."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order), dtype=order.dtype)
    return counts._replace(member=place[counts.member].astype(np.int32))


class TableSweeper:
    """Any factor graph: one number per label."""

    def __init__(self, graph: FactorGraph, q: Floats, tilt: Tilt, penalty: float) -> None:
        self.graph = graph.flat(penalty)
        self.unaries = graph.unary + tilt.bias
        self.unary_of = tilt.bias_of
        self.counts = tilt.flat_counts() if any(tilt.counts) else None
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
        limits = (beta, tolerance, max_sweeps, first, last, self.q, sweeps, changes)
        if self.counts is None:
            kernels.sweeps.ascend(self.graph, self.unaries, self.unary_of, *limits)
        else:
            kernels.sweeps.ascend_counted(self.graph, self.unaries, self.unary_of, self.counts, *limits)

    def update(self, k: int, beta: float, first: int, last: int) -> float:
        return float(kernels.sweeps.update(self.graph, self.unaries[self.unary_of[k]], beta, first, last, self.q[k]))

    def draw(self, betas: Floats, seeds: NDArray[np.uint64], first: int, last: int) -> None:
        labels = self.q[first:last].argmax(-1).astype(np.int32)
        own = self.unary_of[first:last]
        kernels.gibbs.draw(self.graph, self.unaries, own, betas, seeds[first:last], 0, len(labels), labels)
        self.q[first:last] = one_hot(labels, self.q.shape[-1])

    def marginals(self) -> Floats:
        return self.q
