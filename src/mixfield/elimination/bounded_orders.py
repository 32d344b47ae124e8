"""Which variables can be eliminated while every table stays small: greedy orders that stop at a limit.

Eliminating v sums over the table of v and its neighbours.  On a grid the rule "smallest table first" eliminates one
colour of the checkerboard, and then what has become cheap at the border; min-fill is better on irregular graphs.
Several rules are tried, and the order that leaves the fewest states is taken.

`bounded_clusters` continues where an order stops: with some variables left out, the others can be eliminated.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Iterable, Sequence

from mixfield.elimination.orders import Graph, adjacent_variables, missing_pairs

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
    graph = adjacent_variables(sizes, scopes)
    sides = _sides(graph)
    parities = [{v: (side ^ first, v) for v, side in sides.items()} for first in (0, 1)]
    rules = [(ties, False) for ties in parities]
    if len(graph) <= FILL_LIMIT:
        rules.append((parities[0], True))
    found = [_Greedy(graph, sizes, ties, limit, by_fill=by_fill).eliminate(keep) for ties, by_fill in rules]
    return min(found, key=lambda order: _cost(order, sizes))


def bounded_clusters(
    sizes: Sequence[int], scopes: Iterable[tuple[int, ...]], dependence: Sequence[float], *, limit: int
) -> list[Separators]:
    """A partition of the variables into clusters that can be eliminated while every table stays small.

    Where no table of a cluster is small enough, the variable that depends least on its neighbours is left to the next
    cluster: that of the smallest ``dependence[v]`` divided by their number.

    Parameters
    ----------
    sizes, scopes, limit : see `bounded_order`; a variable alone may always be eliminated.
    dependence : (n,) how strongly each variable depends on the others.
    """
    graph, limit = adjacent_variables(sizes, scopes), max(limit, *sizes)
    clusters = []
    while graph:
        greedy = _Greedy(graph, sizes, {v: (0, v) for v in graph}, limit, by_fill=True)
        greedy.eliminate()
        while greedy.graph:
            _, weakest = min((dependence[v] / len(near), v) for v, near in greedy.graph.items())
            greedy.drop(weakest)
            greedy.eliminate()
        order = greedy.order
        clusters.append({v: tuple(u for u in scope if u in order) for v, scope in order.items()})
        graph = {v: near - order.keys() for v, near in graph.items() if v not in order}
    return clusters


def _cost(order: Separators, sizes: Sequence[int]) -> tuple[float, int]:
    """Minus the log of the number of states that were eliminated, then the entries of all tables."""
    entries = sum(sizes[v] * math.prod(sizes[u] for u in scope) for v, scope in order.items())
    return -math.fsum(math.log(sizes[v]) for v in order), entries


def _sides(graph: Graph) -> dict[int, int]:
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


class _Greedy:
    """Eliminates the variable of the smallest table, or of the fewest missing edges, while a table is small enough.

    Attributes
    ----------
    graph : neighbours of the variables that are left.
    order : the variables eliminated so far, with their separators.
    """

    def __init__(
        self, graph: Graph, sizes: Sequence[int], ties: dict[int, tuple[int, int]], limit: int, *, by_fill: bool
    ) -> None:
        self.graph = {v: set(neighbours) for v, neighbours in graph.items()}
        self.order: Separators = {}
        self._sizes, self._ties, self._limit, self._by_fill = sizes, ties, limit, by_fill
        self._scores = {v: self._score(v) for v in graph}
        self._heap = [(known, v) for v, known in self._scores.items() if known is not None]
        heapq.heapify(self._heap)

    def eliminate(self, keep: int = 0) -> Separators:
        """Eliminate until no table is small enough, or ``keep`` variables are left; returns the order."""
        while self._heap and len(self.graph) > keep:
            known, v = heapq.heappop(self._heap)
            if v not in self.graph or known != self._scores[v]:  # an outdated entry
                continue
            neighbours = self.graph.pop(v)
            self.order[v] = tuple(sorted(neighbours))
            for u in neighbours:
                self.graph[u] |= neighbours
                self.graph[u] -= {u, v}
            self._rescore(neighbours)
        return self.order

    def drop(self, v: int) -> None:
        """Take a variable out of the graph without eliminating it; earlier separators keep it."""
        neighbours = self.graph.pop(v)
        for u in neighbours:
            self.graph[u].discard(v)
        self._rescore(neighbours)

    def _score(self, v: int) -> tuple[int, tuple[int, int]] | None:
        entries = self._sizes[v] * math.prod([self._sizes[u] for u in self.graph[v]])
        if entries > self._limit:
            return None
        return (missing_pairs(self.graph, v) if self._by_fill else entries), self._ties[v]

    def _rescore(self, changed: set[int]) -> None:
        """Bring the scores up to date after the neighbours of some variables have changed."""
        affected = changed.union(*(self.graph[u] for u in changed)) if self._by_fill else changed
        for u in affected:
            fresh = self._score(u)
            if fresh is not None and fresh != self._scores[u]:
                heapq.heappush(self._heap, (fresh, u))
            self._scores[u] = fresh
