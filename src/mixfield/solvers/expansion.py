"""A state of low energy of a pairwise graph with many labels, by expansion moves (Boykov, Veksler and Zabih 2001).

In an expansion move every variable keeps its label or takes the label alpha.  The best of these moves is a minimum cut
if for all labels k, l

    f(alpha, alpha) + f(k, l) <= f(k, alpha) + f(alpha, l),

which holds for metrics, such as Potts tables.  Moves of all labels are made in turn until none lowers the energy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixfield.energy.factor_graph import FactorGraph
from mixfield.solvers.minimum_cut import best_binary_state

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_COSTS = 1 << 19  # of single labels, up to which the moves take a few seconds
ROUNDING = 1e-9  # by which f may miss the inequality, relative to its largest cost; such a move may be missed


def alpha_expansion(graph: FactorGraph) -> Ints | None:
    """(n,) a state that no expansion move improves; None where the graph has another form, or is very large.

    Parameters
    ----------
    graph : more than two labels, the same number for all variables, no factor of more than two variables, no forbidden
        pairs, tables with the inequality above.
    """
    if graph.n_labels < 3 or graph.unary.size > MOST_COSTS or (graph.label_counts < graph.n_labels).any():
        return None
    if graph.higher or graph.has_hard_factors or not _can_expand(graph.tables):
        return None
    state = graph.unary.argmin(1)
    energy, before = _energy(graph, state), np.inf
    while energy < before:
        before = energy
        for alpha in range(graph.n_labels):
            moved = _expanded(graph, state, alpha)
            cost = _energy(graph, moved)
            if cost < energy:
                state, energy = moved, cost
    return state


def _can_expand(tables: Floats) -> bool:
    """Whether moves of all labels are minimum cuts."""
    slack = ROUNDING * np.abs(tables).max(initial=0.0)
    return all(
        (
            tables[:, alpha, alpha, None, None] + tables
            <= tables[:, :, alpha, None] + tables[:, alpha, None, :] + slack
        ).all()
        for alpha in range(tables.shape[-1])
    )


def _expanded(graph: FactorGraph, state: Ints, alpha: int) -> Ints:
    """The best state in which each variable keeps its label or takes ``alpha``."""
    other = np.full_like(state, alpha)
    options = np.stack([state, other], 1)
    unary = np.take_along_axis(graph.unary, options, 1)
    first, second = options[graph.edges[:, 0]], options[graph.edges[:, 1]]
    tables = graph.tables[graph.table_of[:, None, None], first[:, :, None], second[:, None, :]]
    return np.where(best_binary_state(unary, graph.edges, tables) == 1, other, state)


def _energy(graph: FactorGraph, state: Ints) -> float:
    return float(graph.of(state.reshape(graph.shape)))
