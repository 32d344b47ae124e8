"""The lowest energies that other packages find: toulbar2 on any graph, dwave-samplers and openjij on binary pairs."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

import dimod
import numpy as np
from numpy.typing import NDArray

from experiments.basins.samplers import ANNEALING, OPENJIJ, peers, repeated
from mixfield.energy import FactorGraph
from mixfield.errors import MixfieldError

PACKAGES = ("pytoulbar2", "dwave-samplers", "openjij")
TOULBAR2 = "toulbar2"
ANNEALERS = (ANNEALING, OPENJIJ)
LARGEST = 1e4  # costs above it are as good as forbidden, and those of toulbar2 are integers of 64 bits
DECIMALS = 6


def peer_versions() -> dict[str, str]:
    """The installed versions; an error if one is missing."""
    try:
        return {name: version(name) for name in PACKAGES}
    except PackageNotFoundError as error:
        raise MixfieldError(f"this experiment needs {error.name}; pip install {' '.join(PACKAGES)}") from None


def toulbar2(graph: FactorGraph, seconds: int) -> NDArray[np.int64] | None:
    """(n,) the best labeling that branch and bound finds within some seconds; None without one."""
    package = import_module("pytoulbar2")
    network = package.CFN(LARGEST * DECIMALS, resolution=DECIMALS)
    for i, count in enumerate(graph.label_counts.tolist()):
        network.AddVariable(f"x{i}", range(count))
    for scope, table in graph.factors():
        if scope:
            costs = np.minimum(table - table.min(), LARGEST)
            network.AddFunction([f"x{i}" for i in scope], costs.ravel().tolist())
    found = network.Solve(timeLimit=seconds)
    return None if found is None else np.array(found[0], np.int64)


def annealed(graph: FactorGraph, package: str, seconds: float, seed: int = 0) -> NDArray[np.int64] | None:
    """(n,) the best labeling of simulated annealing with 1000 sweeps; None unless the graph has binary pairs.

    ``package`` is one of `ANNEALERS`.
    """
    if not graph.is_binary_pairwise or graph.has_hard_factors or not graph.allowed.all():
        return None
    sample = next(call for method, setting, call in peers() if (method, setting) == (package, "1000 sweeps"))
    best = repeated(sample, _bqm(graph), seconds, seed).first.sample
    return np.array([best[i] for i in range(graph.n)], np.int64)


def _bqm(graph: FactorGraph) -> dimod.BinaryQuadraticModel:
    """The same energies up to a constant.

    A table [[a, b], [c, d]] is a + (c - a) x + (b - a) y + (a - b - c + d) x y.
    """
    linear = graph.unary[:, 1] - graph.unary[:, 0]
    a, b, c, d = graph.tables[graph.table_of].reshape(-1, 4).T
    first, second = graph.edges.T
    np.add.at(linear, first, c - a)
    np.add.at(linear, second, b - a)
    model = dimod.BinaryQuadraticModel("BINARY")
    model.add_linear_from(enumerate(linear.tolist()))
    model.add_quadratic_from(zip(first.tolist(), second.tolist(), (a - b - c + d).tolist(), strict=True))
    return model
