"""The graph and the state of all modes in the form that one family of kernels takes."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mixfield import kernels
from mixfield.energy.factor_graph import FactorGraph
from mixfield.solvers.starts import one_hot
from mixfield.solvers.tilt import Tilt

if TYPE_CHECKING:
    from mixfield.kernels.counts import FlatCounts

Floats = NDArray[np.float64]


def sweeper_of(graph: FactorGraph, q: Floats, tilt: Tilt, penalty: float) -> BinarySweeper | TableSweeper:
    """The sweeper of a graph, for marginals (K, n, L), with ``penalty`` as the cost of forbidden joint states."""
    return BinarySweeper(graph, q, tilt, penalty) if graph.has_binary_form else TableSweeper(graph, q, tilt, penalty)


@dataclass(eq=False)
class _Sweeper:
    """The calls that all families share.

    Attributes
    ----------
    loops : kernels `ascend`, `ascend_counted` and `update`.
    graph : in the form of the kernels.
    costs : (B, ...) of labels, and ``cost_of`` (K,) which of them each mode has.
    counts : count potentials, if there are any.
    state : (K, ...) the marginals in the form of the kernels.
    """

    loops: ModuleType
    graph: Any
    costs: Floats
    cost_of: NDArray[np.int32]
    counts: FlatCounts | None
    state: Floats

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
        limits = (beta, tolerance, max_sweeps, first, last, self.state, sweeps, changes)
        if self.counts is None:
            self.loops.ascend(self.graph, self.costs, self.cost_of, *limits)
        else:
            self.loops.ascend_counted(self.graph, self.costs, self.cost_of, self.counts, *limits)

    def update(self, k: int, beta: float, first: int, last: int) -> float:
        return float(self.loops.update(self.graph, self.costs[self.cost_of[k]], beta, first, last, self.state[k]))


class BinarySweeper(_Sweeper):
    """Binary graphs: one number per variable."""

    def __init__(self, graph: FactorGraph, q: Floats, tilt: Tilt, penalty: float) -> None:
        form = graph.binary(penalty)
        costs = graph.unary + tilt.bias
        counts = tilt.flat_counts() if any(tilt.counts) else None
        if counts is not None:
            counts = counts._replace(member=np.argsort(form.order)[counts.member].astype(np.int32))
        self.order = form.order
        super().__init__(
            kernels.binary_batch,
            form.graph,
            (costs[:, :, 1] - costs[:, :, 0])[:, form.order] + form.slope,
            tilt.bias_of,
            counts,
            np.ascontiguousarray(q[:, form.order, 1]),
        )

    def draw(self, betas: Floats, seeds: NDArray[np.uint64], first: int, last: int) -> None:
        kernels.binary_batch.draw(self.graph, self.costs, self.cost_of, betas, seeds, first, last, self.state)

    def marginals(self) -> Floats:
        q = np.empty((*self.state.shape, 2))
        q[:, self.order, 0] = 1.0 - self.state
        q[:, self.order, 1] = self.state
        return q


class TableSweeper(_Sweeper):
    """Any factor graph: one number per label."""

    def __init__(self, graph: FactorGraph, q: Floats, tilt: Tilt, penalty: float) -> None:
        counts = tilt.flat_counts() if any(tilt.counts) else None
        super().__init__(kernels.sweeps, graph.flat(penalty), graph.unary + tilt.bias, tilt.bias_of, counts, q.copy())

    def draw(self, betas: Floats, seeds: NDArray[np.uint64], first: int, last: int) -> None:
        labels = self.state[first:last].argmax(-1).astype(np.int32)
        own = self.cost_of[first:last]
        kernels.gibbs.draw(self.graph, self.costs, own, betas, seeds[first:last], 0, len(labels), labels)
        self.state[first:last] = one_hot(labels, self.state.shape[-1])

    def marginals(self) -> Floats:
        return self.state
