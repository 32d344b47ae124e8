"""In which order to eliminate variables: greedy rules, with more tries the more there is to gain."""

from __future__ import annotations

import heapq
import math
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

_Graph = dict[int, set[int]]
_Rule = Literal["fill", "weight", "given"]
_RETRIES: tuple[_Rule, ...] = ("weight", "fill", "fill", "fill", "given", *("fill",) * 55)


@dataclass(frozen=True)
class Order:
    """The neighbours that each variable has when it is eliminated, first to last, and what the messages will take."""

    neighbours: dict[int, tuple[int, ...]]
    message_entries: int
    meeting_entries: int
    effort: int

    @property
    def treewidth(self) -> int:
        return max(map(len, self.neighbours.values()), default=0)

    @property
    def message_bytes(self) -> int:
        return 8 * (self.message_entries + self.meeting_entries)


def best_order(sizes: Sequence[int], scopes: Iterable[tuple[int, ...]], memory: float) -> Order:
    """Order of smallest ``message_bytes``; the longer the tables will take, the more tie-breaks are tried."""
    graph: _Graph = {v: set() for v, size in enumerate(sizes) if size > 1}
    for variables in scopes:
        for v in variables:
            graph[v].update(variables)
    for v, near in graph.items():
        near.discard(v)
    ties = list(range(len(sizes)))
    best = _greedy_order(graph, sizes, "fill", ties)
    rng = random.Random(0)
    for rule in _RETRIES[: _n_retries(best, memory)]:
        rng.shuffle(ties)
        another = _greedy_order(graph, sizes, rule, ties)
        best = min(best, another, key=lambda order: order.message_bytes)
    return best


def _n_retries(order: Order, memory: float) -> int:
    """How often another order is worth looking for; a step of that takes as long as some hundred table entries."""
    if order.message_bytes > 64 * memory:
        return 0
    return min(order.message_bytes // (3200 * order.effort), 500_000 // order.effort)


def _score(rule: _Rule, v: int, fill: dict[int, int], graph: _Graph, sizes: Sequence[int]) -> float:
    """What the rule wants lowest: missing edges, size of the clique table, or place in the order given."""
    if rule == "fill":
        return fill[v]
    if rule == "weight":
        return math.log(sizes[v] * math.prod([sizes[u] for u in graph[v]]))
    return v


def _greedy_order(graph: _Graph, sizes: Sequence[int], rule: _Rule, ties: Sequence[int]) -> Order:
    """Eliminate the variable of lowest score, make its neighbours adjacent to each other, and repeat."""
    graph = {v: set(near) for v, near in graph.items()}
    fill = {v: _missing_pairs(graph, v) for v in graph}
    score = {v: _score(rule, v, fill, graph, sizes) for v in graph}
    heap = [(score[v], ties[v], v) for v in graph]
    heapq.heapify(heap)
    neighbours: _Graph = {}
    effort = 1
    while graph:
        lowest, _, v = heapq.heappop(heap)
        if v not in graph or lowest != score[v]:
            continue
        effort += 1 + fill[v]
        changed = _join_neighbours(graph, fill, v)
        neighbours[v] = _remove(graph, fill, v)
        for u in changed:
            fresh = _score(rule, u, fill, graph, sizes)
            if fresh != score[u]:
                score[u] = fresh
                heapq.heappush(heap, (fresh, ties[u], u))
    return _priced(neighbours, sizes, effort)


def _missing_pairs(graph: _Graph, v: int) -> int:
    """The fill of v: how many pairs of its neighbours are not adjacent."""
    near = graph[v]
    return (len(near) * (len(near) - 1) - sum(len(near & graph[u]) for u in near)) // 2


def _join_neighbours(graph: _Graph, fill: dict[int, int], v: int) -> set[int]:
    """Add the missing edges among the neighbours of v, keep the fills true, and say which may have changed."""
    changed = set(graph[v])
    for a, b in combinations(sorted(graph[v]), 2) if fill[v] else ():
        if b in graph[a]:
            continue
        common = graph[a] & graph[b]
        for w in common:
            fill[w] -= 1
        # the new neighbour b of a misses all neighbours of a but the common ones, and the other way round
        fill[a] += len(graph[a]) - len(common)
        fill[b] += len(graph[b]) - len(common)
        graph[a].add(b)
        graph[b].add(a)
        changed |= common
    changed.discard(v)
    return changed


def _remove(graph: _Graph, fill: dict[int, int], v: int) -> set[int]:
    """Take v, whose neighbours are all adjacent, out of the graph."""
    near = graph.pop(v)
    for u in near:
        fill[u] -= len(graph[u]) - len(near)
        graph[u].remove(v)
    return near


def _priced(neighbours: _Graph, sizes: Sequence[int], effort: int) -> Order:
    """The order with its separators sorted, the variable eliminated next last, and the sizes of its messages."""
    rank = {v: position for position, v in enumerate(neighbours)}
    separators = {v: tuple(sorted(near, key=rank.__getitem__, reverse=True)) for v, near in neighbours.items()}
    messages = 0
    meeting: defaultdict[int, int] = defaultdict(int)
    for separator in separators.values():
        size = math.prod(sizes[u] for u in separator)
        messages += size
        if separator:
            meeting[separator[-1]] += size
    return Order(separators, messages, max(meeting.values(), default=0), effort)
