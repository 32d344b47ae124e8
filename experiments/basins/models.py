"""Random binary quadratic models of four families."""

from __future__ import annotations

from importlib import import_module

import dimod
import numpy as np

FAMILIES = {
    "Ising grid": "couplings uniform in [-1, 1], fields in [-0.1, 0.1]",
    "±J spin glass": "couplings -1 or 1, a torus, no field",
    "MAX-CUT": "random 3-regular graphs",
    "dense QUBO": "all coefficients integers, uniform in [-100, 100]",
}
SIZES = {"Ising grid": (4, 20, 32), "±J spin glass": (4, 20, 32), "MAX-CUT": (16, 300), "dense QUBO": (16, 100)}


def draw(family: str, size: int, seed: int) -> dimod.BinaryQuadraticModel:
    """A model of a family; ``size`` is the side of a grid, or the number of variables."""
    rng = np.random.default_rng(seed)
    if family == "MAX-CUT":
        edges = import_module("networkx").random_regular_graph(3, size, seed=seed).edges
        return dimod.BQM.from_ising(dict.fromkeys(range(size), 0.0), dict.fromkeys(edges, 1.0))
    if family == "dense QUBO":
        pairs = [(i, j) for i in range(size) for j in range(i, size)]
        return dimod.BQM.from_qubo(dict(zip(pairs, rng.integers(-100, 101, len(pairs)).astype(float), strict=True)))
    torus = family == "±J spin glass"
    edges = _grid_edges(size, torus=torus)
    couplings = rng.choice([-1.0, 1.0], len(edges)) if torus else rng.uniform(-1, 1, len(edges))
    fields = np.zeros(size * size) if torus else rng.uniform(-0.1, 0.1, size * size)
    return dimod.BQM.from_ising(dict(enumerate(fields.tolist())), dict(zip(edges, couplings.tolist(), strict=True)))


def _grid_edges(side: int, *, torus: bool) -> list[tuple[int, int]]:
    """Pairs of neighbours of a square grid, numbered row by row."""
    nodes = np.arange(side * side).reshape(side, side)
    last = side if torus else side - 1
    right = zip(nodes[:, :last].ravel().tolist(), np.roll(nodes, -1, 1)[:, :last].ravel().tolist(), strict=True)
    down = zip(nodes[:last].ravel().tolist(), np.roll(nodes, -1, 0)[:last].ravel().tolist(), strict=True)
    return [*right, *down]
