"""splitmix64 against integers without a limit; also run without the compiler."""

from __future__ import annotations

import naive
import numpy as np
import pytest

from mixfield.kernels import splitmix
from mixfield.kernels.jit import jit

pytestmark = pytest.mark.interpreted


@jit()
def _numbers(state, out):
    for k in range(len(out)):
        state = splitmix.advance(state)
        out[k] = splitmix.uniform(state)


@pytest.mark.parametrize("seed", [0, 1, 2**63, 2**64 - 1])
def test_numbers_are_those_of_splitmix64(seed):
    out, state, expected = np.empty(20), seed, []
    with np.errstate(over="ignore"):
        _numbers(np.uint64(seed), out)
    for _ in range(20):
        state, number = naive.splitmix(state)
        expected.append(number)
    assert out.tolist() == expected
    assert len(set(expected)) == 20
    assert 0 <= min(expected) <= max(expected) < 1
