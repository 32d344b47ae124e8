"""Lists of alternatives: comparisons against plain sums, the greedy order against enumeration."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest

from mixfield.apps.offers import DISTINCT, FEW, Comparison, list_length, offered_posterior
from mixfield.metrics.segmentation import mean_iou
from mixfield.mixture.calibration import Blend, Calibration
from mixfield.mixture.node import Node
from mixfield.mixture.posterior import MixturePosterior
from mixfield.solvers.mode import Mode


@pytest.fixture
def labelings():
    rng = np.random.default_rng(3)
    coarse = rng.integers(0, 4, (6, 5, 4))
    return np.repeat(np.repeat(coarse, 4, 1), 5, 2)


def test_comparisons_are_those_of_single_pairs(labelings):
    found = Comparison.of(labelings)
    for j, one in enumerate(labelings):
        for k, other in enumerate(labelings):
            assert found.apart[j, k] == pytest.approx((one != other).mean())
            assert found.ious[j, k] == pytest.approx(mean_iou([other], [one]))


def test_a_list_is_as_long_as_its_alternatives_promise():
    gains = np.array([np.inf, 0.3, 0.1, 0.2, 0.0])  # 0.6 together
    assert [list_length(gains, least) for least in (0.0, 0.59, 0.61, 4.7, 4.9)] == [5, 5, FEW, FEW, 1]
    assert [list_length(gains[:2], least) for least in (0.0, 0.31, 2.5)] == [2, 2, 1]
    assert list_length(gains[:1], 0.0) == list_length(gains[:1], 0.1) == 1


def _worth(found, weights, chosen):
    return float(weights @ found.ious[list(chosen)].max(0))


def test_each_choice_adds_most_and_the_sum_is_what_the_list_is_worth(labelings):
    found, weights = Comparison.of(labelings), np.array([0.3, 0.1, 0.25, 0.05, 0.2, 0.1])
    order, added = found.order(weights, 2, np.ones(6, bool))
    assert order[0] == 2
    assert sorted(order) == list(range(6))
    for count in range(1, 6):
        options = [_worth(found, weights, [*order[:count], k]) for k in range(6) if k not in order[:count]]
        assert _worth(found, weights, order[: count + 1]) == pytest.approx(max(options))
    assert added[1:].sum() == pytest.approx(_worth(found, weights, range(6)) - _worth(found, weights, [2]))
    best = max(_worth(found, weights, [2, *some]) for some in combinations([0, 1, 3, 4, 5], 2))
    start = _worth(found, weights, [2])
    assert _worth(found, weights, order[:3]) - start >= 0.63 * (best - start)


def test_close_and_forbidden_labelings_are_left_out(labelings):
    close = labelings[1].copy()
    close.ravel()[: int(0.5 * DISTINCT * close.size)] += 1
    found = Comparison.of(np.concatenate([labelings, close[None]]))
    order, _ = found.order(np.ones(7), 0, np.array([True, True, False, True, True, True, True]))
    assert 2 not in order
    assert (1 in order) != (6 in order)


def test_forbidden_labelings_are_no_hypotheses(labelings):
    found, allowed = Comparison.of(labelings), np.array([True, True, True, True, True, False])
    without = Comparison.of(labelings[:5]).order(np.full(5, 0.2), 0, allowed[:5])
    order, added = found.order(np.array([0.1, 0.1, 0.1, 0.1, 0.1, 0.5]), 0, allowed)
    assert order == without[0]
    np.testing.assert_allclose(added[1:], without[1][1:])


def test_the_best_of_a_list_is_the_nearest_to_the_truth(labelings):
    """Draw hypotheses as truths and count which of the list has the highest IoU."""
    found, weights = Comparison.of(labelings), np.array([0.3, 0.1, 0.25, 0.05, 0.2, 0.1])
    offered = [2, 0, 5]
    wins = np.zeros(3)
    for truth, weight in zip(labelings, weights, strict=True):
        wins[np.argmax([mean_iou([truth], [labelings[k]]) for k in offered])] += weight
    np.testing.assert_allclose(found.best_of_list(weights, offered), wins)
    np.testing.assert_allclose(found.best_of_list(10 * weights, list(range(6))), weights)


def test_the_weight_of_a_single_labeling_is_exactly_one():
    """Of any number of hypotheses: the sum of all does not depend on how they are shared."""
    rng = np.random.default_rng(0)
    for count in range(1, 60):
        found = Comparison(1.0 - np.eye(count), np.eye(count))
        assert found.best_of_list(rng.random(count), [0]).tolist() == [1.0]


def three_modes():
    """Modes of two cuts, with a note."""
    modes = tuple(Mode(np.full((2, 2, 2), 0.5), float(-k)) for k in range(3))
    places = ((-1, -1), (0, 2), (0, -1), (2, 0), (2, 1))
    tree = tuple(Node(parent, None, float("nan"), 0.0, mode) for parent, mode in places)
    return MixturePosterior(modes, tree, notes=("slow",))


def calibration_of(kept, *, without_doubt=False):
    count = len(kept)
    evidence = np.full((2, 2, 2), 0.5)
    return Calibration(np.full(count, 1 / count), np.full(count, 0.5), evidence, Blend(0.5, 0.5), without_doubt)


def test_offered_modes_keep_their_leaves():
    posterior = three_modes()
    found = offered_posterior(posterior, [2, 0], calibration := calibration_of([2, 0]), None)
    assert found.modes == (posterior.modes[2], posterior.modes[0])
    assert [node.mode for node in found.tree] == [-1, 0, -1, 1, -1]
    assert found.calibration is calibration


@pytest.mark.parametrize(
    ("kept", "n_modes", "without_doubt", "note"),
    [
        ([0], 4, True, "no doubt: .* to be offered"),
        ([0, 1], 2, False, "offered the 2 most useful of 3 segmentations"),
        ([0, 1], 4, False, "left out 1 of 3 segmentations: .*"),
        ([2, 0, 1], 3, False, None),
    ],
)
def test_a_note_says_why_modes_are_missing(kept, n_modes, without_doubt, note):
    first, *others = offered_posterior(
        three_modes(), kept, calibration_of(kept, without_doubt=without_doubt), n_modes
    ).notes
    assert first == "slow"
    assert len(others) == (note is not None)
    assert all(re.fullmatch(note, text) for text in others)
