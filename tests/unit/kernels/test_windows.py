"""Running sums against sums of slices; also run without the compiler."""

from __future__ import annotations

import naive
import numpy as np
import pytest

from mixfield.kernels import windows

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_accumulate(dtype):
    values = (10 * np.random.default_rng(0).random((7, 3))).astype(dtype)
    expected = naive.running_sums(values)
    windows.accumulate(values)
    np.testing.assert_allclose(values, expected, rtol=1e-6)
