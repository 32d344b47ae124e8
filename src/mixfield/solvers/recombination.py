"""The best parts of two states of a large graph.

The variables in which two states x and y differ form connected parts.  No factor has variables of two of them, so that
the cost of taking a part from y instead of x does not depend on the other parts:

    delta(part) = sum of f(y) - f(x) over the factors f with a variable of the part,

and the state with every part of negative delta taken from y is the best of all their combinations (iterative partial
transcription, Moebius, Freisleben, Merz and Schreiber 1999).  Annealed states of a large field fail in different
places, and a few of them combined are better than one that was cooled a hundred times as slowly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixfield.energy.factor_graph import FactorGraph
from mixfield.energy.flattening import costs_by_factor

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def best_parts(graph: FactorGraph, x: Ints, y: Ints) -> Ints:
    """(n,) the state of lowest cost that takes each connected part in which labels (n,) differ from x or from y."""
    from scipy.sparse.csgraph import connected_components

    differ = np.flatnonzero(x != y)
    count, part = connected_components(graph.adjacency[differ][:, differ], directed=False)
    part_of = np.full(graph.n, -1)
    part_of[differ] = part
    with np.errstate(invalid="ignore"):  # a part that is forbidden in both states stays as it is
        taken = differ[_rises(graph, x, y, part_of, count)[part] < 0]
    best = x.copy()
    best[taken] = y[taken]
    return best


def _rises(graph: FactorGraph, x: Ints, y: Ints, part_of: Ints, count: int) -> Floats:
    """(count,) what each part costs more in y than in x; ``part_of`` (n,) is -1 for variables with equal labels."""
    differ = np.flatnonzero(part_of >= 0)
    rises = np.bincount(part_of[differ], graph.unary[differ, y[differ]] - graph.unary[differ, x[differ]], count)
    part = part_of[graph.edges].max(1, initial=-1)
    touched = np.flatnonzero(part >= 0)
    table, (first, second) = graph.table_of[touched], graph.edges[touched].T
    cost = graph.tables[table, y[first], y[second]] - graph.tables[table, x[first], x[second]]
    rises += np.bincount(part[touched], cost, count)
    for factors in graph.larger_factors:
        part = part_of[factors.scopes].max(1)
        cost = costs_by_factor(factors, y) - costs_by_factor(factors, x)
        rises += np.bincount(part[part >= 0], cost[part >= 0], count)
    return np.asarray(rises)
