"""Random small models, product distributions and constraints for hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import mixfield as mf

SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def factor_lists(draw, *, hard=True, least=2, most=6):
    """Label counts and factors: ragged labels (1-4), arity 0-4, repeated scopes, forbidden states off one feasible."""
    rng = np.random.default_rng(draw(SEEDS))
    counts = draw(st.lists(st.integers(1, 4), min_size=least, max_size=most))
    n = len(counts)
    scopes = draw(
        st.lists(st.lists(st.integers(0, n - 1), max_size=min(4, n), unique=True).map(tuple), min_size=1, max_size=10)
    )
    if draw(st.booleans()):  # a duplicated scope, and one walked backwards
        scopes += [scopes[0], scopes[-1][::-1]]
    scale = draw(st.sampled_from([0.3, 1.0, 3.0]))
    chance = draw(st.sampled_from([0.0, 0.0, 0.15])) if hard else 0.0
    feasible = [int(rng.integers(c)) for c in counts]
    factors = []
    for scope in scopes:
        shape = [counts[i] for i in scope]
        table = np.asarray(scale * rng.standard_normal(shape))
        if scope:
            table[rng.random(shape) < chance] = np.inf
            here = tuple(feasible[i] for i in scope)
            if np.isinf(table[here]):
                table[here] = 0.0
        factors.append((scope, table))
    return counts, factors


@st.composite
def graphs(draw, *, hard=True, least=2, most=6):
    """Random small factor graphs with at least one feasible state."""
    counts, factors = draw(factor_lists(hard=hard, least=least, most=most))
    return mf.FactorGraph.from_factors(counts, factors)


def random_marginals(graph, rng, *, sharp=False):
    """A product distribution over the labels that the variables have; ``sharp`` makes some of them certain."""
    has = np.arange(graph.n_labels) < np.asarray(graph.label_counts)[:, None]
    weights = np.where(has & graph.allowed, rng.standard_exponential(has.shape), 0.0)
    if sharp:
        for row in weights:
            if rng.random() < 0.3:
                row[row < row.max()] = 0.0
    return weights / weights.sum(1, keepdims=True)


@st.composite
def graphs_with_marginals(draw, *, hard=True):
    """A graph and a product distribution over it."""
    graph = draw(graphs(hard=hard))
    q = random_marginals(graph, np.random.default_rng(draw(SEEDS)), sharp=draw(st.booleans()))
    return graph, q


def ragged_marginals(rng, counts, n_labels):
    """A product distribution (n, L) of variables with ``counts`` labels."""
    has = np.arange(n_labels) < np.asarray(counts)[:, None]
    q = np.where(has, rng.standard_exponential(has.shape), 0)
    return q / q.sum(1, keepdims=True)


@st.composite
def cardinalities(draw, n=5, n_labels=3, most=4):
    """Lists of cardinality constraints, which may overlap."""
    found = []
    for _ in range(draw(st.integers(1, most))):
        group = draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=4, unique=True))
        labels = [draw(st.integers(0, n_labels - 1)) for _ in group]
        count, sign = draw(st.integers(1, len(group))), draw(st.sampled_from([1, -1]))
        found.append(mf.constraints.Cardinality(group, labels, count, sign))
    return found
