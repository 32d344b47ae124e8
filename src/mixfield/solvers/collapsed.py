"""A factor graph from which variables were summed out; its starting points are drawn from the whole graph.

A state of the kept variables is a state of the whole field restricted to them.  Where the whole graph is binary and
pairwise, its Gibbs sweeps are ten times as fast as those of the larger tables that elimination leaves.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mixfield.elimination.collapsing import collapse
from mixfield.elimination.conditionals import Conditionals
from mixfield.energy.factor_graph import FactorGraph
from mixfield.errors import InfeasibleError
from mixfield.solvers.factor_graph import FactorGraphSolver

Floats = NDArray[np.float64]


class CollapsedSolver(FactorGraphSolver):
    """The solver of the kept variables.

    Attributes
    ----------
    whole : solver of the whole graph.
    conditionals : what puts the eliminated variables back.
    """

    def __init__(self, rest: FactorGraph, whole: FactorGraphSolver, conditionals: Conditionals) -> None:
        super().__init__(rest, whole.options)
        self.whole, self.conditionals = whole, conditionals

    @cached_property
    def good_states(self) -> Floats:
        """Those of the whole graph, restricted to the kept variables."""
        known = self.conditionals.kept_marginals(self.whole.good_states)[..., : self.energy.n_labels]
        return known[(known.sum(-1) == 1.0).all(-1)]  # a label may have been ruled out

    def cooled_starts(self, count: int, bias: Floats, temperatures: Floats, rng: np.random.Generator) -> Floats:
        if not self.whole.energy.is_binary_pairwise or count == 0:
            return super().cooled_starts(count, bias, temperatures, rng)
        labels = self.conditionals.labels
        costs = np.full(self.whole.energy.unary.shape, np.inf)
        variable, label = np.nonzero(labels >= 0)
        costs[variable, labels[variable, label]] = 0.0
        kept = self.conditionals.kept
        variable, label = np.nonzero(labels[kept] >= 0)
        costs[kept[variable], labels[kept[variable], label]] = bias[variable, label]
        q = self.whole.cooled_starts(count, costs, temperatures, rng)
        return self.conditionals.kept_marginals(q)[..., : bias.shape[1]]


def collapsed(solver: FactorGraphSolver, limit: int, keep: int) -> CollapsedSolver | None:
    """The solver of what is left when variables are summed out; None if none can be.

    Each sum is over a table of at most ``limit`` entries, and ``keep`` variables are left.
    """
    if not solver.energy.has_hard_factors and not _has_small_clique(solver, limit):
        return None  # known at once; forbidden states may rule out labels first
    try:
        found = collapse(solver.energy, limit=limit, keep=keep)
    except InfeasibleError:  # the search reports it
        return None
    if not found.label_counts or len(found.conditionals.variables) == 0:
        return None
    rest = FactorGraph.from_factors(found.label_counts, found.factors)
    return CollapsedSolver(rest, solver, found.conditionals)


def _has_small_clique(solver: FactorGraphSolver, limit: int) -> bool:
    """Whether the table of some variable with a choice and its neighbours has at most ``limit`` entries."""
    log_sizes = np.log(solver.allowed.sum(1))
    entries = log_sizes + solver.energy.adjacency.astype(bool) @ log_sizes
    return bool((entries[log_sizes > 0] < np.log(limit) + 1e-9).any())
