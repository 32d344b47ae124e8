"""The code that traced functions emit."""

from __future__ import annotations

import numpy as np
import pytest
from llvmlite import ir

from mixfield.kernels import simd_llvm


@pytest.fixture
def builder():
    function = ir.Function(ir.Module(), ir.FunctionType(ir.VoidType(), [ir.IntType(64)] * 2), "traced")
    return ir.IRBuilder(function.append_basic_block())


@pytest.fixture
def arguments(builder):
    return [simd_llvm.Index(builder, argument) for argument in builder.function.args]


def _code(builder):
    return str(builder.function)


def test_an_operator_is_an_instruction(builder, arguments):
    first, second = arguments
    place = first * 3 + second - 1
    assert isinstance(place, simd_llvm.Index)
    code = _code(builder)
    assert [code.count(f"= {name} i64") for name in ("mul", "add", "sub")] == [1, 1, 1]


def test_the_body_of_a_loop_is_traced_once(builder, arguments):
    bodies = 0
    for _ in simd_llvm.loop(0, arguments[0]):
        for _ in simd_llvm.when(arguments[1] > 3):
            bodies += 1
    assert bodies == 1
    assert _code(builder).count("phi") == 2  # the index, and a count that is not used
    assert "icmp sgt" in _code(builder)


def test_a_number_becomes_a_constant_of_single_precision(builder):
    vector = simd_llvm.Vector(builder, ir.Constant(ir.VectorType(ir.FloatType(), 4), ir.Undefined))
    total = vector + 0.1
    assert total.lanes == 4
    assert [lane.constant for lane in total.value.operands[1].constant] == [float(np.float32(0.1))] * 4


def test_products_may_be_fused_only_in_multiply_add(builder):
    vector = simd_llvm.Vector(builder, ir.Constant(ir.VectorType(ir.FloatType(), 8), ir.Undefined))
    simd_llvm.multiply_add(vector, vector, vector)
    assert _code(builder).count("contract") == 2
    _ = vector * vector + vector
    assert _code(builder).count("contract") == 2
