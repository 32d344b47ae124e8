"""Which variables can be eliminated while every table stays small: greedy orders that stop at a limit.

Eliminating v sums over the table of v and its neighbours.  On a grid the rule "smallest table first" eliminates one
colour of the checkerboard, and then what has become cheap at the border; min-fill is better on irregular graphs.
Several rules are tried, and the order that leaves the fewest states is taken.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Iterable, Sequence

_Graph = dict[int, set[int]]
Separators = dict[int, tuple[int, ...]]

FILL_LIMIT = 5000  # variables up to which min-fill is tried: its updates look at pairs of neighbours


def bounded_order(sizes: Sequence[int], scopes: Iterable[tuple[int, ...]], *, limit: int, keep: int) -> Separators:
    """Variables in the order of elimination, each with its neighbours at that time.

    Parameters
    ----------
    sizes : (n,) number of labels of each variable; those with one label are not eliminated.
    scopes : variables of each table.
    limit : largest number of entries of the table of a variable and its neighbours.
    keep : number of variables that must remain.
    """
    graph = _adjacent(sizes, scopes)
    sides = _sides(graph)
    parities = [{v: (side ^ first, v) for v, side in sides.items()} for first in (0, 1)]
    found = [_greedy(graph, sizes, ties, limit, keep, by_fill=False) for ties in parities]
    if len(graph) <= FILL_LIMIT:
        found.append(_greedy(graph, sizes, parities[0], limit, keep, by_fill=True))
    return min(found, key=lambda order: _cost(order, sizes))


def _cost(order: Separators, sizes: Sequence[int]) -> tuple[float, int]:
    """Minus the log of the number of states that were eliminated, then the entries of all tables."""
    entries = sum(sizes[v] * math.prod(sizes[u] for u in scope) for v, scope in order.items())
    return -math.fsum(math.log(sizes[v]) for v in order), entries


def _adjacent(sizes: Sequence[int], scopes: Iterable[tuple[int, ...]]) -> _Graph:
    """Neighbours of each variable with more than one label."""
    graph: _Graph = {v: set() for v, size in enumerate(sizes) if size > 1}
    for scope in scopes:
        for v in scope:
            graph[v].update(scope)
    for v, neighbours in graph.items():
        neighbours.discard(v)
    return graph


def _sides(graph: _Graph) -> dict[int, int]:
    """The parity of the distance from the first variable of each component: the colours of a checkerboard."""
    sides: dict[int, int] = {}
    for root in graph:
        if root in sides:
            continue
        sides[root] = 0
        queue = deque([root])
        while queue:
            v = queue.popleft()
            for u in sorted(graph[v]):
                if u not in sides:
                    sides[u] = 1 - sides[v]
                    queue.append(u)
    return sides


def _greedy(
    graph: _Graph, sizes: Sequence[int], ties: dict[int, tuple[int, int]], limit: int, keep: int, *, by_fill: bool
) -> Separators:
    """Eliminate the variable of the smallest table, or of the fewest missing edges, until no table is small enough."""
    graph = {v: set(neighbours) for v, neighbours in graph.items()}

    def score(v: int) -> tuple[int, tuple[int, int]] | None:
        entries = sizes[v] * math.prod([sizes[u] for u in graph[v]])
        if entries > limit:
            return None
        return (_missing_pairs(graph, v) if by_fill else entries), ties[v]

    scores = {v: score(v) for v in graph}
    heap = [(known, v) for v, known in scores.items() if known is not None]
    heapq.heapify(heap)
    order: Separators = {}
    while heap and len(graph) > keep:
        known, v = heapq.heappop(heap)
        if v not in graph or known != scores[v]:  # an outdated entry
            continue
        for u in _removed(graph, order, v, by_fill=by_fill):
            fresh = score(u)
            if fresh is not None and fresh != scores[u]:
                heapq.heappush(heap, (fresh, u))
            scores[u] = fresh
    return order


def _removed(graph: _Graph, order: Separators, v: int, *, by_fill: bool) -> set[int]:
    """Eliminate v: join its neighbours; returns the variables whose score may change."""
    neighbours = graph.pop(v)
    order[v] = tuple(sorted(neighbours))
    for u in neighbours:
        graph[u] |= neighbours
        graph[u] -= {u, v}
    return neighbours.union(*(graph[u] for u in neighbours)) if by_fill else neighbours


def _missing_pairs(graph: _Graph, v: int) -> int:
    """How many pairs of neighbours of v are not adjacent."""
    neighbours = graph[v]
    return sum(len(neighbours) - 1 - len(neighbours & graph[u]) for u in neighbours) // 2
