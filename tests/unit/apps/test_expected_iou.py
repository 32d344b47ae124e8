"""Labels with a high expected IoU."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.apps.expected_iou import balanced_labels


def _scene(rng):
    """Marginals (40, 50, 3) of an image with a small object, and labels drawn from them."""
    rows, columns = np.mgrid[:40, :50]
    logits = np.stack([np.zeros((40, 50)), 4 - 0.7 * np.hypot(rows - 20, columns - 20), 0.2 * (columns - 42.0)], -1)
    q = np.exp(logits)
    q /= q.sum(-1, keepdims=True)
    return q, (rng.random((200, 40, 50, 1)) > q.cumsum(-1)).sum(-1)


def test_the_expected_iou_is_higher_than_that_of_the_most_probable_labels():
    q, truths = _scene(np.random.default_rng(0))

    def expected(labels):
        return np.mean([mf.metrics.mean_iou(truth, labels) for truth in truths])

    assert expected(balanced_labels(q)) > expected(q.argmax(-1)) + 0.005


def test_without_balance_the_most_probable_labels():
    q = np.random.default_rng(1).dirichlet(np.ones(4), (9, 7))
    assert (balanced_labels(q, 0.0) == q.argmax(-1)).all()


def test_sure_pixels_stay_and_no_label_appears():
    q, _ = _scene(np.random.default_rng(2))
    q = np.concatenate([q, np.full((40, 50, 1), 0.01)], -1)
    labels = balanced_labels(q)
    assert set(np.unique(labels)) == {0, 1, 2}
    sure = q.max(-1) > 0.95
    assert (labels == q.argmax(-1))[sure].all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_relabelling_changes_nothing_else(dtype):
    q = _scene(np.random.default_rng(3))[0].astype(dtype)
    order = [2, 0, 1]
    assert (np.array(order)[balanced_labels(q[..., order])] == balanced_labels(q)).all()
