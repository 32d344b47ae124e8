"""pyAgrum: Bayesian networks and Markov random fields, and back as a Markov random field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mixfield.bridges.potentials import checked_names, costs_of, library, potentials
from mixfield.energy.factor_graph import FactorGraph
from mixfield.errors import MixfieldError


def from_pyagrum(model: Any) -> FactorGraph:
    """A model of pyAgrum as a factor graph.

    Parameters
    ----------
    model : a ``BayesNet`` or ``MarkovRandomField`` of pyAgrum.

    Returns
    -------
    FactorGraph
        P(x) of a Bayesian network is exp(-E(x)), its log Z is 0; of a Markov field exp(-E(x)) is the product of the
        factors.  Variable k is the k-th of ``sorted(model.nodes())``, its label l the l-th of its ``labels()``.

    Notes
    -----
    Continuous variables (``pyagrum.clg``), decisions and utilities are not supported.
    """
    nodes, tensors = _parts(model)
    variables = [model.variable(node) for node in nodes]
    number_of = {variable.name(): k for k, variable in enumerate(variables)}
    factors = []
    for tensor in tensors:
        names = tuple(reversed(tensor.names))  # the first variable of a tensor is the last axis of its array
        table = costs_of(tensor.toarray(), f"the table of {list(names)}")
        factors.append(([number_of[name] for name in names], table))
    return FactorGraph.from_factors([variable.domainSize() for variable in variables], factors)


def _parts(model: Any) -> tuple[list[int], list[Any]]:
    """Nodes and tables of a model."""
    gum = library("pyagrum", "pyagrum")
    if isinstance(model, gum.BayesNet):
        nodes = sorted(model.nodes())
        return nodes, [model.cpt(node) for node in nodes]
    if isinstance(model, gum.MarkovRandomField):
        return sorted(model.nodes()), [model.factor(scope) for scope in model.factors()]
    raise MixfieldError(
        f"model must be a BayesNet or MarkovRandomField of pyAgrum, got {type(model).__name__}; continuous variables "
        "must be discretised, decisions and utilities left out"
    )


def to_pyagrum(graph: FactorGraph, names: Sequence[str] | None = None) -> Any:
    """A factor graph as a ``MarkovRandomField`` of pyAgrum.

    Parameters
    ----------
    graph : with costs of at most 700 in absolute value, or +inf.
    names : (n,) names of the variables; by default ``x0``, ``x1``, ...

    Returns
    -------
    pyagrum.MarkovRandomField
        The product of its factors is exp(-E(x)).
    """
    gum = library("pyagrum", "pyagrum")
    name_of = checked_names(names, graph.n)
    field = gum.MarkovRandomField()
    for name, count in zip(name_of, graph.label_counts.tolist(), strict=True):
        field.add(gum.LabelizedVariable(str(name), str(name), count))
    for scope, weights in potentials(graph):
        field.addFactor([str(name_of[i]) for i in reversed(scope)])[:] = weights
    return field
