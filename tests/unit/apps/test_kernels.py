"""Kernel settings."""

from __future__ import annotations

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
