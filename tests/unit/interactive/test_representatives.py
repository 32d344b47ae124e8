"""Representatives against exhaustive search."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mixfield.interactive.representatives import mean_ious, representatives


def slow_iou(a, b, sizes):
    values = []
    for label in np.union1d(a, b):
        union = sizes[(a == label) | (b == label)].sum()
        values.append(sizes[(a == label) & (b == label)].sum() / union)
    return np.mean(values)


@given(st.integers(0, 10_000))
def test_mean_iou_against_a_loop(seed):
    rng = np.random.default_rng(seed)
    labelings, sizes = rng.integers(0, 3, (4, 6)), rng.uniform(1, 5, 6)
    expected = [[slow_iou(a, b, sizes) for b in labelings] for a in labelings]
    np.testing.assert_allclose(mean_ious(labelings, sizes), expected)


@given(st.integers(0, 10_000))
def test_greedy_choice_is_within_its_guarantee(seed):
    """Beyond the first, the gain is monotone and submodular: greedy reaches 1 - 1/e of the best."""
    rng = np.random.default_rng(seed)
    labelings, sizes, weights = rng.integers(0, 2, (6, 8)), rng.uniform(1, 5, 8), rng.dirichlet(np.ones(6))
    agreement, first = mean_ious(labelings, sizes), int(rng.integers(6))

    def gain(others):
        return weights @ (agreement[[first, *others]].max(0) - agreement[first])

    chosen, pooled = representatives(agreement, weights, first, 3)
    assert first in chosen
    best = max(gain(pair) for pair in combinations(range(6), 2))
    assert gain(chosen) >= (1 - 1 / np.e) * best - 1e-12
    np.testing.assert_allclose(pooled.sum(), 1)
    assert (np.diff(pooled) <= 1e-12).all()


def test_weights_are_those_of_all_that_are_represented():
    agreement = mean_ious(np.array([[0, 0, 0, 0], [0, 0, 0, 1], [1, 1, 1, 1]]), np.ones(4))
    chosen, weights = representatives(agreement, np.array([0.3, 0.3, 0.4]), 0, 2)
    assert chosen.tolist() == [0, 2]
    np.testing.assert_allclose(weights, [0.6, 0.4])


def test_no_more_than_there_are():
    chosen, weights = representatives(np.ones((1, 1)), np.ones(1), 0, 4)
    assert chosen.tolist() == [0]
    assert weights.tolist() == [1.0]
