"""Elimination orders: greedy min-fill and min-weight, with more tie-breaks the larger the tables."""

from __future__ import annotations

import heapq
import math
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

Graph = dict[int, set[int]]  # neighbours of each variable
_Rule = Literal["fill", "weight", "given"]
_RETRIES: tuple[_Rule, ...] = ("weight", "fill", "fill", "fill", "given", *("fill",) * 55)


@dataclass(frozen=True)
class Order:
    """An elimination order and the size of its messages.

    Attributes
    ----------
    separators : the variables in the order of elimination, each with its neighbours at that time, the variable that is
        eliminated next as the last.
    message_entries : entries of all messages, one table for each separator.
    received_entries : largest sum of the entries of the messages that one clique receives.
    effort : steps that it took to find the order.
    """

    separators: dict[int, tuple[int, ...]]
    message_entries: int
    received_entries: int
    effort: int

    @property
    def treewidth(self) -> int:
        """Size of the largest clique minus one."""
        return max(map(len, self.separators.values()), default=0)

    @property
    def message_bytes(self) -> int:
        """Bytes of all messages, and of a copy of those that one clique receives."""
        return 8 * (self.message_entries + self.received_entries)


def best_order(sizes: Sequence[int], scopes: Iterable[tuple[int, ...]], memory: float) -> Order:
    """The order of smallest ``message_bytes`` of several.

    Parameters
    ----------
    sizes : (n,) number of labels of each variable; those with one label are not eliminated.
    scopes : variables of each table.
    memory : bytes that the tables may take; an order far beyond that is not improved.
    """
    graph = adjacent_variables(sizes, scopes)
    ties = list(range(len(sizes)))
    best = _greedy_order(graph, sizes, "fill", ties)
    rng = random.Random(0)
    for rule in _RETRIES[: _n_retries(best, memory)]:
        rng.shuffle(ties)
        another = _greedy_order(graph, sizes, rule, ties)
        best = min(best, another, key=lambda order: order.message_bytes)
    return best


def adjacent_variables(sizes: Sequence[int], scopes: Iterable[tuple[int, ...]]) -> Graph:
    """Neighbours of each variable with more than one label."""
    graph: Graph = {v: set() for v, size in enumerate(sizes) if size > 1}
    for scope in scopes:
        for v in scope:
            graph[v].update(scope)
    for v, neighbours in graph.items():
        neighbours.discard(v)
    return graph


def _n_retries(order: Order, memory: float) -> int:
    """How many other orders to try: a step of that takes as long as some hundred table entries."""
    if order.message_bytes > 64 * memory:
        return 0
    return min(order.message_bytes // (3200 * order.effort), 500_000 // order.effort)


def _score(rule: _Rule, v: int, fill: dict[int, int], graph: Graph, sizes: Sequence[int]) -> float:
    """The lowest is next: missing edges, log of the size of the clique table, or place in the order given."""
    if rule == "fill":
        return fill[v]
    if rule == "weight":
        return math.log(sizes[v] * math.prod([sizes[u] for u in graph[v]]))
    return v


def _greedy_order(graph: Graph, sizes: Sequence[int], rule: _Rule, ties: Sequence[int]) -> Order:
    """Eliminate the variable of lowest score, make its neighbours adjacent to each other, and repeat."""
    graph = {v: set(neighbours) for v, neighbours in graph.items()}
    fill = {v: missing_pairs(graph, v) for v in graph}
    score = {v: _score(rule, v, fill, graph, sizes) for v in graph}
    heap = [(score[v], ties[v], v) for v in graph]
    heapq.heapify(heap)
    separators: Graph = {}
    effort = 1
    while graph:
        lowest, _, v = heapq.heappop(heap)
        if v not in graph or lowest != score[v]:  # an outdated entry
            continue
        effort += 1 + fill[v]
        changed = _join_neighbours(graph, fill, v)
        separators[v] = _remove(graph, fill, v)
        for u in changed:
            new = _score(rule, u, fill, graph, sizes)
            if new != score[u]:
                score[u] = new
                heapq.heappush(heap, (new, ties[u], u))
    return _measured(separators, sizes, effort)


def missing_pairs(graph: Graph, v: int) -> int:
    """The fill of v: how many pairs of its neighbours are not adjacent."""
    neighbours = graph[v]
    adjacent = sum(len(neighbours & graph[u]) for u in neighbours)  # each pair twice
    return (len(neighbours) * (len(neighbours) - 1) - adjacent) // 2


def _join_neighbours(graph: Graph, fill: dict[int, int], v: int) -> set[int]:
    """Add the missing edges among the neighbours of v and update the fills; returns the variables that may change."""
    changed = set(graph[v])
    for a, b in combinations(sorted(graph[v]), 2) if fill[v] else ():
        if b in graph[a]:
            continue
        common = graph[a] & graph[b]
        for w in common:
            fill[w] -= 1
        # the new neighbour b of a is not adjacent to the neighbours of a but the common ones, and the other way round
        fill[a] += len(graph[a]) - len(common)
        fill[b] += len(graph[b]) - len(common)
        graph[a].add(b)
        graph[b].add(a)
        changed |= common
    changed.discard(v)
    return changed


def _remove(graph: Graph, fill: dict[int, int], v: int) -> set[int]:
    """Remove v, whose neighbours are all adjacent, and update the fills; returns the neighbours."""
    neighbours = graph.pop(v)
    for u in neighbours:
        fill[u] -= len(graph[u]) - len(neighbours)
        graph[u].remove(v)
    return neighbours


def _measured(separators: Graph, sizes: Sequence[int], effort: int) -> Order:
    """The order with sorted separators and the size of its messages."""
    rank = {v: position for position, v in enumerate(separators)}
    ordered = {v: tuple(sorted(scope, key=rank.__getitem__, reverse=True)) for v, scope in separators.items()}
    entries = 0
    received: defaultdict[int, int] = defaultdict(int)
    for separator in ordered.values():
        size = math.prod(sizes[u] for u in separator)
        entries += size
        if separator:
            received[separator[-1]] += size
    return Order(ordered, entries, max(received.values(), default=0), effort)
