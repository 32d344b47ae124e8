"""Features of changes, and the logistic model of them."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.apps.change_features import ChangeFeatures, Logistic, change_features, colour_levels, main_labels


@pytest.fixture
def change():
    root = np.zeros((4, 5), int)
    labels = root.copy()
    labels[:, :2] = 1
    evidence = np.full((4, 5, 2), 0.5)
    evidence[:, :2, 1] = 0.2
    return evidence, root, labels


def test_features_are_the_mean_probability_of_the_new_labels_and_the_share(change):
    features = ChangeFeatures.of(*change)
    assert features.logit == pytest.approx(np.log(0.2 / 0.8))
    assert features.log_share == pytest.approx(np.log(8 / 20))


def test_no_change_is_improbable(change):
    evidence, root, _ = change
    features = ChangeFeatures.of(evidence, root, root)
    assert features.logit < -6
    assert np.isfinite(features.log_share)


def test_the_identity_gives_the_probability_of_the_evidence(change):
    assert Logistic(slope=1.0).probability(ChangeFeatures.of(*change)) == pytest.approx(0.2)


def test_the_score_is_a_sum():
    features = ChangeFeatures(logit=2.0, log_share=-1.5, colour=0.25, peak=3.0)
    model = Logistic(intercept=0.5, slope=0.7, area=0.3, colour=-2.0, peak=0.1)
    assert model.score(features) == pytest.approx(0.5 + 0.7 * 2.0 - 0.3 * 1.5 - 2.0 * 0.25 + 0.1 * 3.0)


def test_the_peak_is_that_of_the_new_label_anywhere(change):
    evidence, root, labels = change
    evidence[3, 4] = 0.1, 0.9
    assert ChangeFeatures.of(evidence, root, labels).peak == pytest.approx(np.log(9.0))


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
    assert ChangeFeatures.of(evidence, root, everything, colour_levels(image)).colour == 0.0


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
