"""Questions behind modes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from mixfield.apps.questions import ChangeFeatures, Logistic, Question, settled_labels


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
    assert Logistic(0.0, 1.0, 0.0).probability(ChangeFeatures.of(*change)) == pytest.approx(0.2)


@pytest.mark.parametrize("changed", [{"intercept": 1.0}, {"slope": 2.0}, {"area": 1.0}])
def test_every_coefficient_matters(change, changed):
    plain = {"intercept": 0.0, "slope": 1.0, "area": 0.0}
    features = ChangeFeatures.of(*change)
    assert Logistic(**(plain | changed)).probability(features) != Logistic(**plain).probability(features)


def test_a_question_in_words():
    question = Question(1, np.ones((2, 2), bool), 0, 1, 0.62, 0.04)
    assert question.text(["chair", "sofa"]) == "is this region chair or sofa? 38 : 62, 4 % of the image"
    assert "label 0 or label 1" in question.text()
    assert question.usefulness == pytest.approx(0.62 * 0.2)


def test_settled_labels_take_probable_changes_that_do_not_overlap():
    root, left, both = (np.array([row], int) for row in ([0, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 1]))
    modes = [
        SimpleNamespace(labeling=lambda labels=labels: labels, marginals=np.eye(2)[labels])
        for labels in (root, left, both)
    ]

    def asked(first, second):
        calibration = SimpleNamespace(answers=[np.nan, first, second])
        posterior = SimpleNamespace(modes=modes, root_mode=0, calibration=calibration)
        return settled_labels(posterior).tolist()

    assert asked(0.6, 0.7) == [[0, 1, 1, 1]]
    assert asked(0.7, 0.6) == [[1, 1, 0, 0]]
    assert asked(0.4, 0.5) == [[0, 0, 0, 0]]
