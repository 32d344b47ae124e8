"""pgmpy: discrete Bayesian networks, Markov networks and factor graphs, and back as a Markov network."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import combinations
from typing import Any

from mixfield.bridges.potentials import checked_names, costs_of, library, potentials
from mixfield.energy.factor_graph import FactorGraph
from mixfield.errors import MixfieldError

_Parts = tuple[list[Hashable], list[Any]]  # names of variables, factors of pgmpy


def from_pgmpy(model: Any) -> FactorGraph:
    """A model of pgmpy as a factor graph.

    Parameters
    ----------
    model : a ``DiscreteBayesianNetwork``, ``DiscreteMarkovNetwork`` or ``FactorGraph`` of pgmpy.

    Returns
    -------
    FactorGraph
        P(x) of a Bayesian network is exp(-E(x)), its log Z is 0; for the others exp(-E(x)) is the product of the
        factors.  Variable k is the k-th of ``model.nodes()``, of a factor graph the k-th that its factors name; its
        label l is the l-th of its states.

    Notes
    -----
    Continuous variables (``LinearGaussianBayesianNetwork``) and networks over time are not supported.
    """
    names, factors = _parts(model)
    counts = _label_counts(names, factors)
    number_of = {name: k for k, name in enumerate(names)}
    tables = [
        ([number_of[v] for v in factor.variables], costs_of(factor.values, f"the factor of {list(factor.variables)}"))
        for factor in factors
    ]
    return FactorGraph.from_factors(counts, tables)


def _label_counts(names: Sequence[Hashable], factors: Sequence[Any]) -> list[int]:
    """Label count of each variable, of which no two factors may name the states differently."""
    states_of: dict[Hashable, list[Hashable]] = {}
    for factor in factors:
        for name in factor.variables:
            states = list(factor.state_names[name])
            unnamed = list(range(len(states)))
            if states_of.get(name, unnamed) == unnamed:
                states_of[name] = states
            elif states not in (unnamed, states_of[name]):
                raise MixfieldError(
                    f"factors must agree on the states of {name!r}, got {states_of[name]} and {states}; "
                    "give both in the same order"
                )
    lonely = [name for name in names if name not in states_of]
    if lonely:
        raise MixfieldError(f"every variable must have a factor, {lonely[0]!r} has none: add one of ones")
    return [len(states_of[name]) for name in names]


def _parts(model: Any) -> _Parts:
    """Names of the variables, and the factors, of a model."""
    models = library("pgmpy.models", "pgmpy")
    kinds: dict[str, Callable[[Any], _Parts]] = {
        "DiscreteBayesianNetwork": _bayesian_network,
        "DiscreteMarkovNetwork": _markov_network,
        "FactorGraph": _factor_graph,
    }
    for kind, parts in kinds.items():
        if isinstance(model, getattr(models, kind)):
            return parts(model)
    raise MixfieldError(
        f"model must be a {', '.join(kinds)} of pgmpy, got {type(model).__name__}; continuous variables must be "
        "discretised, networks over time unrolled"
    )


def _bayesian_network(model: Any) -> _Parts:
    networkx = library("networkx", "pgmpy")
    if not networkx.is_directed_acyclic_graph(model):
        raise MixfieldError(
            f"model must not have directed cycles, got {networkx.find_cycle(model)}; remove one of these edges"
        )
    _check(model)
    return list(model.nodes()), [cpd.to_factor() for cpd in model.get_cpds()]


def _markov_network(model: Any) -> _Parts:
    _check(model)
    return list(model.nodes()), model.get_factors()


def _factor_graph(model: Any) -> _Parts:
    """Not checked by pgmpy, which refuses what it makes of a Markov network."""
    factors = model.get_factors()
    return list(dict.fromkeys(name for factor in factors for name in factor.variables)), factors


def _check(model: Any) -> None:
    try:
        model.check_model()
    except ValueError as error:
        raise MixfieldError(f"model is not complete, as pgmpy says: {error}") from None


def to_pgmpy(graph: FactorGraph, names: Sequence[Hashable] | None = None) -> Any:
    """A factor graph as a ``DiscreteMarkovNetwork`` of pgmpy.

    Parameters
    ----------
    graph : with costs of at most 700 in absolute value, or +inf.
    names : (n,) names of the variables; by default ``x0``, ``x1``, ...

    Returns
    -------
    pgmpy.models.DiscreteMarkovNetwork
        The product of its factors is exp(-E(x)); its partition function is Z.
    """
    models, discrete = library("pgmpy.models", "pgmpy"), library("pgmpy.factors.discrete", "pgmpy")
    name_of = checked_names(names, graph.n)
    network = models.DiscreteMarkovNetwork()
    network.add_nodes_from(name_of)
    for scope, weights in potentials(graph):
        variables = [name_of[i] for i in scope]
        network.add_edges_from(combinations(variables, 2))
        network.add_factors(discrete.DiscreteFactor(variables, weights.shape, weights))
    return network
