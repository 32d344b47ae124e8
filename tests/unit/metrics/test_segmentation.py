"""Intersection over union: PASCAL's counting, void pixels, the oracle."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.errors import MixfieldError
from mixfield.metrics import best_of, confusion, mean_iou
from mixfield.metrics.segmentation import average, iou


def plain_iou(truth, labels, void):
    """The definition, label by label."""
    keep = truth != void
    found = []
    for label in np.unique(truth[keep]):
        here, there = (truth == label) & keep, (labels == label) & keep
        found.append((here & there).sum() / (here | there).sum())
    return np.mean(found)


def test_mean_iou_is_the_definition():
    rng = np.random.default_rng(0)
    truth = rng.choice([0, 1, 2, 4, 255], (20, 30)).astype(np.uint8)
    labels = rng.integers(0, 6, (20, 30))
    assert mean_iou(truth, labels) == pytest.approx(plain_iou(truth, labels, 255))
    assert mean_iou(truth, labels, n_labels=21) == mean_iou(truth, labels)
    assert mean_iou(truth % 5, labels, void=2) == pytest.approx(plain_iou(truth % 5, labels, 2))


def test_perfect_and_worst():
    truth = np.array([[0, 1], [1, 255]])
    assert mean_iou(truth, truth) == 1.0
    assert mean_iou(truth, 1 - np.minimum(truth, 1)) == 0.0
    assert np.isnan(mean_iou([[255]], [[0]]))


def test_pixels_of_all_images_count_together():
    rng = np.random.default_rng(1)
    truths = [rng.integers(0, 3, shape) for shape in ((4, 5), (6, 2))]
    answers = [rng.integers(0, 3, truth.shape) for truth in truths]
    total = sum(confusion(t, a, 3) for t, a in zip(truths, answers, strict=True))
    assert mean_iou(truths, answers) == pytest.approx(average(total))
    assert total.sum() == 32
    stacked = np.stack([truths[0]] * 2), np.stack([answers[0]] * 2)
    assert mean_iou(*stacked) == pytest.approx(mean_iou(truths[0], answers[0]))


def test_labels_absent_from_the_truth_do_not_count_but_their_pixels_do():
    each = iou(confusion([[0, 0, 0, 0]], [[0, 0, 2, 2]], 3))
    assert each[0] == 0.5
    assert np.isnan(each[1:]).all()


def test_best_of_is_the_oracle():
    truth = np.array([[0, 0, 1, 1]])
    answers = np.array([[[0, 0, 0, 1]], [[0, 0, 1, 1]], [[1, 1, 1, 1]]])
    assert best_of(truth, answers) == (1, 1.0)
    assert mf.metrics.best_of(truth, answers[::2])[0] == 0


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: mean_iou([[0, 1]], [[0]]), "shape of truth"),
        (lambda: mean_iou([[0, 3]], [[0, 0]], n_labels=2), "truth must lie in 0..1"),
        (lambda: mean_iou([[0, 1]], [[0, 7]], n_labels=2), "labels must lie in 0..1"),
        (lambda: mean_iou([[0.5]], [[0]]), "integers"),
        (lambda: best_of([[0]], []), "at least one"),
    ],
)
def test_bad_input_is_named(call, sentence):
    with pytest.raises(MixfieldError, match=sentence):
        call()
