"""Synthetic fields of the paper: the motivating example (section 3) and the random grids (section 7.1)."""

from __future__ import annotations

import numpy as np

from mixfield import _arrays
from mixfield.energy.factor_graph import FactorGraph, grid_edges
from mixfield.errors import MixfieldError

# Bounds J and h: spin couplings are uniform in [-J, J] (mixed) or [0, J] (attractive), fields in [-h, h].
# "mmmf": the authors' published notebook.  "weller": theta x + W/2 [x = x'] with |W| <= 6, |theta| <= 2, in spins.
PRESETS = {"mmmf": (3.0, 2.0), "weller": (1.5, 1.0)}


def random_ising(
    size: int = 13,
    *,
    preset: str = "mmmf",
    attractive: bool = False,
    topology: str = "grid",
    rng: int | np.random.Generator = 0,
) -> FactorGraph:
    """Random couplings and fields on ``size * size`` binary variables, a benchmark of the paper (section 7.1).

    Parameters
    ----------
    size : side of the grid.
    preset : ``"mmmf"`` or ``"weller"``, the strength of couplings and fields (see `PRESETS`).
    attractive : only couplings that favour equal labels, instead of both signs.
    topology : ``"grid"``, or ``"random"`` for the same number of edges between random pairs.
    rng : seed or generator.
    """
    if preset not in PRESETS:
        raise MixfieldError(f"preset must be one of {sorted(PRESETS)}, got {preset!r}")
    if topology not in ("grid", "random"):
        raise MixfieldError(f"topology must be 'grid' or 'random', got {topology!r}")
    generator = _arrays.generator(rng)
    side = _arrays.at_least("size", size, 1)
    edges = grid_edges((side, side))
    if topology == "random":
        all_pairs = np.stack(np.triu_indices(side * side, 1), axis=1)
        edges = all_pairs[np.sort(generator.choice(len(all_pairs), len(edges), replace=False))]
    strength, bias = PRESETS[preset]
    coupling = generator.uniform(0.0 if attractive else -strength, strength, len(edges))
    return FactorGraph.ising(generator.uniform(-bias, bias, (side, side)), edges, coupling)


def four_zones(
    size: int = 16,
    *,
    weak: float = 0.1,
    strong: float = 1.0,
    evidence: float = 1.0,
    noise: float = 0.5,
    rng: int | np.random.Generator = 0,
) -> FactorGraph:
    """The motivating example of the paper (section 3, figure 1).

    Couplings are weak on the left and strong on the right; unaries favour label 1 in the top half and are noise in the
    bottom half.  The bottom right quarter is all 0 or all 1, with almost equal probabilities.

    Parameters
    ----------
    size : side of the grid.
    weak, strong : spin couplings of the left and the right half; edges between quarters are weak.
    evidence : field of the top half.
    noise : the field of the bottom half is uniform in [-noise, noise], and sums to zero in each quarter.
    rng : seed or generator.
    """
    side = _arrays.at_least("size", size, 2)
    generator = _arrays.generator(rng)
    row, column = np.divmod(np.arange(side * side), side)
    bottom, right = row >= side // 2, column >= side // 2
    quarter = 2 * bottom + right
    edges = grid_edges((side, side))
    first, second = edges.T
    coupling = np.where((quarter[first] == quarter[second]) & right[first], strong, weak)
    field = np.where(bottom, generator.uniform(-noise, noise, side * side), evidence)
    for k in (2, 3):
        field[quarter == k] -= field[quarter == k].mean()
    return FactorGraph.ising(field.reshape(side, side), edges, coupling)
