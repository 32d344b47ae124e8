"""Kernel settings."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.errors import MixfieldError


def test_deeplab_has_the_values_of_deeplab():
    assert mf.Kernels.deeplab() == mf.Kernels(smooth_sxy=3, smooth_weight=3, sxy=67, srgb=3, weight=4)


@pytest.mark.parametrize("name", ["smooth_sxy", "sxy", "srgb"])
def test_bandwidths_must_be_positive(name):
    with pytest.raises(MixfieldError, match=name):
        mf.Kernels(**{name: 0.0})


def test_weights_may_be_zero():
    assert mf.Kernels(weight=0, smooth_weight=0).weight == 0


def test_only_kernels_with_a_weight_are_used():
    image = np.zeros((4, 5, 3))
    smooth, colour = mf.Kernels.deeplab().pairwise(image, (7, 9))
    assert (smooth.sxy, smooth.weight) == (3.0, 3.0)
    assert (colour.sxy, colour.srgb, colour.weight, colour.origin) == (67.0, 3.0, 4.0, (7, 9))
    assert mf.Kernels(weight=0, smooth_weight=0).pairwise(image) == []
