"""Small KSP* problems for tests, and their optima by enumeration."""

from __future__ import annotations

import itertools

import numpy as np

from mixfield.temporal.costs import ModeCosts
from mixfield.temporal.flow import disjoint_paths
from mixfield.temporal.timegrid import Ends, unroll


def random_costs(rng, T, K, n, *, scale=2.0):
    """Modes with independent costs, some frames with fewer modes than K."""
    mode, cell = rng.uniform(0, 3, (T, K)), rng.normal(0.7, scale, (T, K, n))
    for t in range(T):
        absent = rng.integers(1, K + 1)
        mode[t, absent:], cell[t, absent:] = np.inf, np.inf
        mode[t] -= mode[t].min()
    return ModeCosts(mode, cell)


def whole_grid(costs, motion, ends=None):
    """The time grid of all cells."""
    return unroll(np.ones((len(costs.mode), motion.n), bool), motion, ends or Ends.open(motion))


def every_choice(costs):
    """All choices of one mode per frame."""
    for modes in itertools.product(*(np.flatnonzero(allowed).tolist() for allowed in costs.allowed)):
        yield np.array(modes)


def cost_of_modes(costs, grid, modes):
    """Cost of modes with the best paths through the nodes of a grid."""
    return disjoint_paths(grid.graph, costs.chosen(modes)[grid.frame, grid.cell]).cost + costs.price(modes)


def enumerated(costs, motion, ends=None):
    """Least cost over all choices of one mode per frame."""
    grid = whole_grid(costs, motion, ends)
    return min(cost_of_modes(costs, grid, modes) for modes in every_choice(costs))
