"""The defaults of each family, and families of one's own."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.errors import MixfieldError
from mixfield.mixture import Search


def tiny():
    return mf.DenseCRF(np.random.default_rng(2).normal(scale=0.2, size=(3, 4, 2)), [mf.Gaussian(1.5, 6.0)])


def test_a_firm_clamp_needs_a_dense_field(two_wells):
    with pytest.raises(MixfieldError, match="FirmClamp needs an attractive DenseCRF"):
        mf.infer(two_wells, 2, clamp=mf.constraints.FirmClamp())
    with pytest.raises(MixfieldError, match=r"FirmClamp needs an attractive DenseCRF and no search"):
        mf.infer(tiny(), 2, clamp=mf.constraints.FirmClamp(), search=Search())
