"""Features of changes, and the logistic model of them."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.apps.change_features import (
    ChangeFeatures,
    Logistic,
    Unchanged,
    change_features,
    colour_levels,
    main_labels,
)


@pytest.fixture
def change():
    root = np.zeros((4, 5), int)
    labels = root.copy()
    labels[:, :2] = 1
    evidence = np.full((4, 5, 2), 0.5)
    evidence[:, :2, 1] = 0.2
    return evidence, root, labels


def features_of(evidence, root, labels, image=None):
    return Unchanged(evidence, root, image).change(labels)


def test_features_are_the_mean_probability_of_the_new_labels_and_the_share(change):
    features = features_of(*change)
    assert features.logit == pytest.approx(np.log(0.2 / 0.8))
    assert features.log_share == pytest.approx(np.log(8 / 20))


def test_no_change_is_improbable(change):
    evidence, root, _ = change
    features = features_of(evidence, root, root)
    assert features.logit < -6
    assert np.isfinite(features.log_share)


def test_the_identity_gives_the_probability_of_the_evidence(change):
    assert Logistic(slope=1.0).probability(features_of(*change)) == pytest.approx(0.2)


def test_the_score_is_a_sum():
    features = ChangeFeatures(logit=2.0, log_share=-1.5, colour=0.25, gain=0.1, growth=3.0)
    model = Logistic(intercept=0.5, slope=0.7, area=0.3, colour=-2.0, gain=5.0, growth=0.2)
    assert model.score(features) == pytest.approx(0.5 + 0.7 * 2.0 - 0.3 * 1.5 - 2.0 * 0.25 + 5.0 * 0.1 + 0.2 * 3.0)


def test_the_growth_compares_the_new_label_with_its_probability(change):
    evidence, root, labels = change
    expected = np.log((8 / 20 + 1e-4) / (evidence[..., 1].mean() + 1e-4))
    assert features_of(evidence, root, labels).growth == pytest.approx(expected)


def test_the_gain_is_the_difference_of_expected_ious():
    """Against sums over all pixels, label by label."""
    rng = np.random.default_rng(0)
    evidence = rng.dirichlet(np.ones(4), (20, 30))
    root, labels = rng.integers(0, 4, (20, 30)), rng.integers(0, 3, (20, 30))
    labels[:, 5:] = root[:, 5:]

    def expected(of):
        total, weights = 0.0, 0.0
        for label in range(4):
            given, area = evidence[..., label].mean(), (of == label).mean()
            right = evidence[of == label][:, label].sum() / of.size
            present = 1 - np.exp(-max(given, area) / 0.01)
            total, weights = total + present * right / (given + area - right), weights + present
        return total / weights

    assert features_of(evidence, root, labels).gain == pytest.approx(expected(labels) - expected(root), abs=1e-9)


def test_weights_are_relative_to_the_root_mode(change):
    evidence, root, labels = change
    both = change_features(evidence, np.stack([labels, root]), 1, None)
    model = Logistic(intercept=0.3, slope=0.7)
    first, second = model.weights(both, 1)
    assert first / second == pytest.approx(np.exp(model.score(both[0])))
    assert first + second == pytest.approx(1.0)


def test_colours_are_compared_with_the_rest_of_the_old_label(change):
    evidence, root, labels = change
    image = np.zeros((4, 5, 3))
    image[:, 2:4] = 250.0  # of twelve pixels that keep their label, eight have another colour

    def colour(of):
        return change_features(evidence, np.stack([root, labels]), 0, of)[1].colour

    assert colour(image) == pytest.approx(np.sqrt(4 / 12))
    assert colour(np.zeros((4, 5, 3))) == pytest.approx(1.0)
    assert colour(None) == 0.0
    everything = np.ones_like(root)
    assert features_of(evidence, root, everything, image).colour == 0.0


def test_colours_have_four_levels_of_each_channel():
    image = np.random.default_rng(0).integers(0, 256, (7, 9, 3))
    levels = image // 64
    expected = levels[..., 0] + 4 * levels[..., 1] + 16 * levels[..., 2]
    np.testing.assert_array_equal(colour_levels(image), expected)
    np.testing.assert_array_equal(colour_levels(np.concatenate([image, image], -1)), expected)
    assert colour_levels(np.array([[[300.0]], [[-1.0]]])).tolist() == [[3], [0]]


def test_main_labels_are_the_most_frequent_pair():
    assert main_labels(np.array([0, 0, 2, 2, 2]), np.array([1, 1, 3, 4, 5])) == (0, 1)
    assert main_labels(np.array([], int), np.array([], int)) == (0, 0)


@pytest.mark.parametrize(("intercept", "expected"), [(-800.0, 0.0), (800.0, 1.0)])
def test_extreme_odds_do_not_overflow(intercept, expected):
    assert Logistic(intercept).probability(ChangeFeatures(0, 0, 0, 0, 0)) == expected
