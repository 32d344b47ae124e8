"""Both versions of the language of the inner loops have the same names, so that a function runs on either."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from mixfield.kernels import simd_llvm, simd_numpy
from mixfield.kernels.constants import LANES

pytestmark = pytest.mark.interpreted


def _own(module):
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_") and inspect.isfunction(value) and value.__module__ == module.__name__
    }


def test_every_function_has_its_counterpart():
    compiled, interpreted = _own(simd_llvm), _own(simd_numpy)
    assert compiled.keys() == interpreted.keys()
    for name, function in compiled.items():
        assert list(inspect.signature(function).parameters) == list(inspect.signature(interpreted[name]).parameters)


@pytest.mark.parametrize("name", ["Array", "Variable"])
def test_every_method_has_its_counterpart(name):
    compiled, interpreted = (
        {key for key in dir(getattr(module, name)) if not key.startswith("_")} for module in (simd_llvm, simd_numpy)
    )
    assert compiled - {"builder", "data", "value"} == interpreted - {"array", "value"}


def test_a_loop_and_a_branch_run_in_python():
    values = np.arange(3 * LANES, dtype=np.float32)

    def emit(array, count, out):
        total = simd_numpy.Variable(array.constant(0.0))
        for i in simd_numpy.loop(0, count):
            for _ in simd_numpy.when(i != 1):
                total.value = total.value + array.load(i * LANES)
        out.store(0, total.value)

    out = np.empty(LANES, np.float32)
    simd_numpy.simd_function(emit)(values, 3, out)
    np.testing.assert_array_equal(out, values[:LANES] + values[2 * LANES :])
