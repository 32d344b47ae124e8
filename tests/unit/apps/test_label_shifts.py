"""Mean fields with one label cheaper or dearer."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.apps import label_shifts
from mixfield.apps.label_shifts import SHIFT

SHAPE, L = (12, 16), 4
IMAGE = np.random.default_rng(1).integers(0, 255, (*SHAPE, 3), dtype=np.uint8)
KERNELS = [mf.Gaussian(1.0, 0.3), mf.Bilateral(IMAGE, 3.0, 20.0, 0.3)]


@pytest.fixture
def field():
    """Label 1 is doubtful on the right, label 2 hardly anywhere, label 3 nowhere."""
    probs = np.full((*SHAPE, L), [0.9, 0.0995, 0.0005, 0.0])
    probs[:, 8:] = [0.55, 0.3495, 0.1005, 0.0]
    probs[2:5, 2:5] = [0.2, 0.7995, 0.0005, 0.0]
    return probs, mf.DenseCRF(-np.log(np.maximum(probs, 1e-8)), KERNELS)


def test_shifts_are_the_mean_fields_of_shifted_costs(field):
    probs, energy = field
    answer = mf.mean_field(energy)
    found = list(label_shifts.label_shifts(energy, answer, probs))
    shifts = [(0, -SHIFT), (1, -SHIFT), (2, -SHIFT), (0, SHIFT), (1, SHIFT)]
    assert len(found) == len(shifts)  # label 3 is nowhere, 2 is not in the answer
    for mode, (label, shift) in zip(found, shifts, strict=True):
        costs = energy.unary.copy()
        costs[..., label] += shift
        expected = mf.mean_field(mf.DenseCRF(costs, KERNELS), start=answer.marginals)
        assert (mode.labeling() == expected.labeling()).mean() > 0.98
        np.testing.assert_allclose(mode.marginals.sum(-1), 1.0, atol=1e-5)
    assert (found[1].labeling()[:, 9:] == 1).all()
    assert (answer.labeling()[:, 9:] == 0).all()


def test_batches_do_not_change_the_result(field, monkeypatch):
    probs, energy = field
    answer = mf.mean_field(energy)
    together = [mode.marginals for mode in label_shifts.label_shifts(energy, answer, probs)]
    monkeypatch.setattr(label_shifts, "LARGEST_BATCH", 1)
    for one, mode in zip(together, label_shifts.label_shifts(energy, answer, probs), strict=True):
        np.testing.assert_allclose(one, mode.marginals, atol=0.1 * label_shifts.TOLERANCE)  # of stopping
