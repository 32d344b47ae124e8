"""The field of one image: what is learned reaches its kernels and costs."""

from __future__ import annotations

import numpy as np
import pytest
from torch_layers import torch  # noqa: F401

from mixfield.torch.field import ImageField, Parameters, Settings

PARAMETERS = Parameters(0.5, np.array([1.0, 2.0]), np.array([1.5, 4.0, 30.0]), None)
RNG = np.random.default_rng(0)
LOGITS, IMAGE = RNG.normal(size=(3, 4, 5)), RNG.uniform(0, 255, (2, 4, 5))


@pytest.mark.parametrize("exact", [False, True])
def test_costs_kernels_and_precision(exact):
    field = ImageField(Settings(3, exact=exact, spacing=(2.0, 1.0)), PARAMETERS, LOGITS, IMAGE)
    assert field.costs().dtype == (np.float64 if exact else np.float32)
    assert field.costs() == pytest.approx(-0.5 * LOGITS.reshape(3, -1).T, abs=1e-6)
    smooth, appearance = field.kernels
    assert (smooth.sxy, smooth.weight) == ([0.75, 1.5], 1.0)
    assert (appearance.sxy, appearance.srgb, appearance.weight) == ([2.0, 4.0], 30.0, 2.0)
    assert field.run(keep=True).log_marginals.shape == (20, 3)
    assert field.energy().shape == (4, 5)
    assert len(field.probes()) == 6


@pytest.mark.parametrize("exact", [False, True])
def test_rows_of_the_same_precision_are_not_copied(exact):
    field = ImageField(Settings(3, exact=exact), PARAMETERS, LOGITS, IMAGE)
    dtype = np.float64 if exact else np.float32
    last, first = np.moveaxis(np.zeros((4, 5, 3), dtype), -1, 0), LOGITS.astype(dtype)
    for planes in (last, first):
        assert np.shares_memory(field.rows(planes), planes)
        assert (field.rows(planes) == planes.reshape(3, -1).T).all()
    other = first.astype(np.float32 if exact else np.float64)
    assert field.rows(other).dtype == dtype


def test_without_an_image_the_appearance_kernel_has_no_gradient():
    field = ImageField(Settings(3, updates=2), PARAMETERS, LOGITS, None)
    run = field.run(keep=True)
    gradient = field.gradient(field.pull_back(run, np.ones_like(LOGITS) * LOGITS, bandwidths=True))
    assert gradient.weights[0] != 0
    assert gradient.weights[1] == 0
    assert (gradient.bandwidths != 0).tolist() == [True, False, False]
    assert gradient.compatibility is None
