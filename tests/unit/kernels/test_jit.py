"""How kernels are compiled."""

from __future__ import annotations

import pytest

from mixfield.kernels.jit import INTERPRETED, jit


@jit()
def _ratio(a, b):
    return a / b


@jit(fastmath=True)
def _sum(values):
    total = 0.0
    for value in values:
        total += value
    return total


@pytest.mark.skipif(INTERPRETED, reason="without the compiler, Python's own rules hold")
def test_a_division_by_zero_is_infinite():
    assert _ratio(1.0, 0.0) == float("inf")


@pytest.mark.skipif(INTERPRETED, reason="options of the compiler")
def test_options_are_shared_and_extended():
    assert _ratio.targetoptions["nogil"]
    assert not _ratio.targetoptions.get("fastmath")
    assert _sum.targetoptions["fastmath"]
    assert _sum.targetoptions["error_model"] == "numpy"


@pytest.mark.interpreted
def test_the_interpreter_runs_the_same_function():
    assert _sum([1.0, 2.0]) == 3.0 if INTERPRETED else _sum.py_func([1.0, 2.0]) == 3.0
