"""Tables of probabilities and weights, as Bayesian networks and Markov fields have them, and tables of costs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield.energy.factor_graph import FactorGraph
from mixfield.errors import MixfieldError

Floats = NDArray[np.float64]

LARGEST_COST = 700.0  # exp of it and of its negative are normal numbers of float64


def library(module: str, extra: str) -> Any:
    """A module of another library, or a `MixfieldError` that names the extra to install."""
    try:
        return import_module(module)
    except ImportError:
        raise MixfieldError(f"this needs {module.partition('.')[0]}: pip install 'mixfield[{extra}]'") from None


def costs_of(values: ArrayLike, what: str) -> Floats:
    """-log of weights; 0 becomes +inf."""
    weights = np.asarray(values, np.float64)
    if not (np.isfinite(weights) & (weights >= 0)).all():
        wrong = weights[~(np.isfinite(weights) & (weights >= 0))].flat[0]
        raise MixfieldError(f"{what} must hold finite weights that are not negative, got {wrong}")
    with np.errstate(divide="ignore"):
        return 0.0 - np.log(weights)


def potentials(graph: FactorGraph) -> list[tuple[tuple[int, ...], Floats]]:
    """Variables and weights exp(-cost) of the factors of a graph, each set of variables once, in increasing order.

    The constant of the graph is part of the first table, so that the product of all is exp(-E(x)).
    """
    if graph.n == 0:
        raise MixfieldError("graph must have at least one variable")
    total: dict[tuple[int, ...], Floats] = {}
    for scope, table in graph.factors():
        axes = np.argsort(np.array(scope, np.int64))
        key = tuple(scope[a] for a in axes) or (0,)
        total[key] = np.transpose(table, axes) + total.get(key, 0.0)
    return [(scope, _weights(scope, costs)) for scope, costs in total.items()]


def _weights(scope: tuple[int, ...], costs: Floats) -> Floats:
    extreme = costs[np.isfinite(costs) & (np.abs(costs) > LARGEST_COST)]
    if extreme.size:
        raise MixfieldError(
            f"the factor of variables {scope} has a cost of {extreme[0]:.6g}, whose weight exp(-cost) is no float64; "
            f"costs must lie in -{LARGEST_COST:g}..{LARGEST_COST:g} or be +inf: subtract a constant or clip them"
        )
    return np.exp(-costs)


def checked_names(names: Sequence[Hashable] | None, n: int) -> list[Any]:
    """One name for each of ``n`` variables, x0, x1, ... if none are given."""
    found = [f"x{i}" for i in range(n)] if names is None else list(names)
    if len(found) != n or len(set(found)) != n:
        raise MixfieldError(f"names must be {n} different ones, one for each variable, got {found[:10]}")
    return found
