"""Measures of several labelings against several annotations."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'mixfield[torch]'")

from experiments.learning import annotators  # noqa: E402


def test_the_energy_distance_of_the_annotations_themselves_is_zero():
    _, labels = annotators.scenes(3, 0)
    for truth in labels.numpy():
        assert annotators._ged(np.full(2, 0.5), truth, truth) == pytest.approx(0.0, abs=1e-12)
        assert annotators._matched(truth, truth) == 1.0
        one = annotators._ged(np.ones(1), truth[:1], truth)
        assert one > 0.1
        assert annotators._ged(np.array([0.9, 0.1]), truth, truth) == pytest.approx(0.64 * one)


def test_annotators_differ_by_the_halo():
    images, labels = annotators.scenes(4, 1)
    assert images.shape == (4, 3, annotators.SIZE, annotators.SIZE)
    wide, narrow = labels[:, 0], labels[:, 1]
    assert (wide >= narrow).all()
    assert (wide.sum((1, 2)) > 1.5 * narrow.sum((1, 2))).all()
