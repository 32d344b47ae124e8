"""Variables summed out and put back, against enumeration of all states."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import mixfield as mf
from mixfield.elimination.collapsing import collapse
from mixfield.errors import InfeasibleError


def _graph(seed, *, hard=False):
    r"""Eight variables of two or three labels.

    0 - 1 - 2 - 3
    |   | / |       and the factors (3, 4, 5), (5, 6), (6, 7)
    4 - 5 - 6 - 7
    """
    rng = np.random.default_rng(seed)
    counts = [2, 3, 2, 2, 3, 2, 2, 2]
    pairs = [(0, 1), (1, 2), (2, 3), (0, 4), (1, 5), (5, 2), (2, 6), (4, 5), (5, 6), (6, 7)]
    scopes = [*((i,) for i in range(8)), *pairs, (3, 4, 5)]
    factors = [(scope, 2.0 * rng.normal(size=[counts[i] for i in scope])) for scope in scopes]
    if hard:
        factors[-1][1][0, :, 1] = np.inf
        factors[9][1][0, 1] = np.inf
        factors[1][1][2] = np.inf
    return mf.FactorGraph.from_factors(counts, [*factors, ((), np.array(0.7))])


def _states(counts):
    return np.array(list(itertools.product(*(range(c) for c in counts))), np.int64).reshape(-1, len(counts))


def _rest(collapsed):
    return mf.FactorGraph.from_factors(collapsed.label_counts, collapsed.factors)


CASES = [
    (seed, hard, limit, keep) for seed in range(2) for hard in (False, True) for limit in (8, 64) for keep in (1, 3)
]


@pytest.mark.parametrize(("seed", "hard", "limit", "keep"), CASES)
def test_against_enumeration(seed, hard, limit, keep):
    graph = _graph(seed, hard=hard)
    found = collapse(graph, limit=limit, keep=keep)
    given, rest = found.conditionals, _rest(found)
    assert len(given.kept) >= keep
    assert len(given.variables) > 0
    states = _states(graph.label_counts)
    cost = graph.of(states)
    here, exists = given.reduce(states)
    assert np.isinf(cost[~exists]).all()
    # the energy of the rest is -log sum exp(-E) over the eliminated variables
    kept = _states(found.label_counts)
    sums = np.full(len(kept), -np.inf)
    of_kept = {tuple(y): k for k, y in enumerate(kept.tolist())}
    rows = np.array([of_kept[tuple(y)] for y in here[:, given.kept].tolist()])
    np.logaddexp.at(sums, rows[exists], -cost[exists])
    np.testing.assert_allclose(rest.of(kept), -sums, atol=1e-10)
    # P(eliminated | kept) = exp(-E) / sum exp(-E)
    possible = exists & np.isfinite(cost)
    expected = -cost[possible] - sums[rows[possible]]
    np.testing.assert_allclose(given.log_prob(here[possible]), expected, atol=1e-10)
    # marginals of a product distribution of the kept variables times the conditionals
    most = max(found.label_counts)
    q = np.random.default_rng(seed).random((2, kept.shape[1], most))
    q = np.where(np.arange(most) < np.array(found.label_counts)[:, None], q, 0.0)
    q /= q.sum(-1, keepdims=True)
    marginals = given.marginals(q, graph.n_labels)
    np.testing.assert_array_equal(given.kept_marginals(marginals)[..., :most], q)
    weights = np.prod(q[:, np.arange(kept.shape[1])[None], here[:, given.kept]], axis=-1)
    weights = weights * np.where(exists, np.exp(given.log_prob(here)), 0.0)
    np.testing.assert_allclose(weights.sum(1), 1.0, atol=1e-10)
    for i in range(graph.n):
        for label in range(graph.label_counts[i]):
            np.testing.assert_allclose(marginals[:, i, label], weights[:, states[:, i] == label].sum(1), atol=1e-10)
    # the best completion of each state of the kept variables
    completed = given.complete(kept)
    best = np.full(len(kept), np.inf)
    np.minimum.at(best, rows[exists], cost[exists])
    np.testing.assert_allclose(graph.of(completed), best, atol=1e-10)


def test_samples_have_the_frequencies_of_the_conditionals():
    """40,000 draws: a frequency is off by more than 4.5 standard deviations with probability 7e-6."""
    graph = _graph(3)
    given = collapse(graph, limit=32, keep=2).conditionals
    kept = np.repeat(np.array([[0] * len(given.kept), [1] * len(given.kept)]), 20_000, axis=0)
    x = given.sample(kept, np.random.default_rng(0))
    q = np.zeros((2, len(given.kept), given.labels.shape[1]))
    q[0, :, 0] = q[1, :, 1] = 1.0
    expected = given.marginals(q, graph.n_labels)
    for half in range(2):
        drawn = (x[20_000 * half : 20_000 * (half + 1), :, None] == np.arange(graph.n_labels)).mean(0)
        deviation = np.sqrt(expected[half] * (1 - expected[half]) / 20_000)
        assert np.all(np.abs(drawn - expected[half]) <= 4.5 * deviation + 1e-12)


def test_samples_follow_the_joint_distribution():
    graph = _graph(4)
    given = collapse(graph, limit=64, keep=1).conditionals
    kept = np.zeros((30_000, len(given.kept)), np.int64)
    x, _ = given.reduce(given.sample(kept, np.random.default_rng(1)))
    states, counts = np.unique(x, axis=0, return_counts=True)
    p = np.exp(given.log_prob(states))
    assert np.all(np.abs(counts / 30_000 - p) <= 5.0 * np.sqrt(p * (1 - p) / 30_000) + 1e-4)


def test_every_variable_of_a_tree_can_be_eliminated():
    graph = mf.FactorGraph.ising(np.linspace(-1, 1, 6), [(i, i + 1) for i in range(5)], 0.8)
    found = collapse(graph, limit=4, keep=0)
    assert found.label_counts == []
    assert -found.factors[0][1] == pytest.approx(mf.exact(graph).log_z, abs=1e-12)


def test_observed_variables_come_back():
    graph = _graph(0).condition({1: 2, 6: 0})
    given = collapse(graph, limit=64, keep=2).conditionals
    x = given.sample(np.zeros((5, len(given.kept)), np.int64), np.random.default_rng(0))
    assert (x[:, 1] == 2).all()
    assert (x[:, 6] == 0).all()


def test_contradictions_are_reported():
    forbidden = np.full((2, 2), np.inf)
    graph = mf.FactorGraph.from_factors([2, 2], [((0, 1), forbidden)])
    with pytest.raises(InfeasibleError, match="every state has infinite cost"):
        collapse(graph, limit=64, keep=0)
