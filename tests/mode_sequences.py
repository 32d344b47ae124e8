"""The cost of a sequence of modes, for tests that enumerate all of them."""

from __future__ import annotations


def total_cost(path, costs, steps):
    """Sum of costs and transitions along a sequence of modes."""
    total = sum(cost[mode] for mode, cost in zip(path, costs, strict=True))
    hops = zip(path, path[1:], steps, strict=False)
    return total + sum(0.0 if step is None else step[before, after] for before, after, step in hops)
