"""KSP* as the paper's appendix prints it, with a flow x_{k,i,l,j} between modes, and source and sink as in KSP."""

from __future__ import annotations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array


def solve(costs, grid, *, integral):
    """Optimum of the programme (``integral``) or of its linear relaxation."""
    graph, allowed = grid.graph, costs.allowed
    head = np.repeat(np.arange(graph.n), np.diff(graph.start))
    y = {key: i for i, key in enumerate(zip(*np.nonzero(allowed), strict=True))}
    copies = {(v, k): i for i, (v, k) in enumerate(zip(*np.nonzero(allowed[grid.frame]), strict=True))}
    objective = [costs.mode[key] for key in y]
    leaving, arriving = [[] for _ in copies], [[] for _ in copies]

    def variable(cost, tail=None, to=None):
        """A flow variable from one copy of a node to another; the cost of a copy is charged where flow leaves it."""
        if tail is not None:
            cost += costs.cell[grid.frame[tail[0]], tail[1], grid.cell[tail[0]]]
            leaving[copies[tail]].append(len(objective))
        if to is not None:
            arriving[copies[to]].append(len(objective))
        objective.append(cost)

    for v, k in copies:
        if np.isfinite(graph.entry[v]):
            variable(graph.entry[v], to=(v, k))
        if np.isfinite(graph.exit[v]):
            variable(graph.exit[v], tail=(v, k))
    for a, (u, v) in enumerate(zip(graph.tail.tolist(), head.tolist(), strict=True)):
        for k in np.flatnonzero(allowed[grid.frame[u]]):
            for l in np.flatnonzero(allowed[grid.frame[v]]):
                variable(graph.arc_cost[a], tail=(u, k), to=(v, l))

    rows, low, high = [], [], []

    def constrain(entries, least, most):
        rows.append(entries)
        low.append(least)
        high.append(most)

    for (v, k), i in copies.items():
        constrain(dict.fromkeys(arriving[i], 1) | dict.fromkeys(leaving[i], -1), 0, 0)
        constrain(dict.fromkeys(leaving[i], 1) | {y[grid.frame[v], k]: -1}, -np.inf, 0)
    for t in range(len(allowed)):
        constrain({i: 1 for (frame, _), i in y.items() if frame == t}, 1, 1)
    entries = [(r, c, value) for r, row in enumerate(rows) for c, value in row.items()]
    r, c, value = map(np.array, zip(*entries, strict=True))
    places = (r.astype(np.int32), c.astype(np.int32))  # SciPy 1.13 solves no others
    matrix = csr_array((value.astype(float), places), shape=(len(rows), len(objective)))
    kind = np.zeros(len(objective))
    kind[: len(y)] = integral
    answer = milp(objective, integrality=kind, bounds=Bounds(0, 1), constraints=LinearConstraint(matrix, low, high))
    assert answer.status == 0
    return answer.fun
