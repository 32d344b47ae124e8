"""The vectors of `simd` as LLVM instructions: operators on these classes emit code."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from mixfield.kernels.constants import LANES, LN2, LOG2_E, LOWEST

# 2^r for |r| <= 1/2, to 1.6e-7 in single precision, and one at zero
EXP2_POLYNOMIAL = (1.3264727197e-3, 9.6715126397e-3, 5.5507337433e-2, 2.4022242085e-1, 6.9314697760e-1, 1.0)
# log((1 + t) / (1 - t)) / (2 t) as a polynomial of t^2
LOG_SERIES = (1 / 9, 1 / 7, 1 / 5, 1 / 3, 1.0)

_INT32, _FLOAT = ir.IntType(32), ir.FloatType()
_CONTRACT = ("contract",)  # a product and a sum may become one instruction


@dataclass(frozen=True)
class Condition:
    """True or false, of a number or of each lane of a vector."""

    builder: ir.IRBuilder
    value: ir.Value

    def __and__(self, other: Condition) -> Condition:
        return Condition(self.builder, self.builder.and_(self.value, other.value))


@dataclass(frozen=True)
class Index:
    """A 64-bit integer."""

    builder: ir.IRBuilder
    value: ir.Value

    def operand(self, other: Index | int) -> ir.Value:
        """Another index, or an integer as a constant."""
        return other.value if isinstance(other, Index) else ir.Constant(self.value.type, other)

    def __add__(self, other: Index | int) -> Index:
        return Index(self.builder, self.builder.add(self.value, self.operand(other)))

    def __sub__(self, other: Index | int) -> Index:
        return Index(self.builder, self.builder.sub(self.value, self.operand(other)))

    def __mul__(self, other: Index | int) -> Index:
        return Index(self.builder, self.builder.mul(self.value, self.operand(other)))

    def __and__(self, other: int) -> Index:
        return Index(self.builder, self.builder.and_(self.value, self.operand(other)))

    def __lt__(self, other: Index | int) -> Condition:
        return Condition(self.builder, self.builder.icmp_signed("<", self.value, self.operand(other)))

    def __gt__(self, other: Index | int) -> Condition:
        return Condition(self.builder, self.builder.icmp_signed(">", self.value, self.operand(other)))


@dataclass(frozen=True)
class Number:
    """One float32."""

    builder: ir.IRBuilder
    value: ir.Value


@dataclass(frozen=True)
class Vector:
    """Float32 in the lanes of one register; arithmetic is lane by lane."""

    builder: ir.IRBuilder
    value: ir.Value

    @property
    def lanes(self) -> int:
        return int(self.value.type.count)

    def operand(self, other: Vector | float) -> ir.Value:
        """Another vector, or a number in all lanes."""
        return other.value if isinstance(other, Vector) else _constant(other, self.lanes)

    def __add__(self, other: Vector | float) -> Vector:
        return Vector(self.builder, self.builder.fadd(self.value, self.operand(other)))

    def __sub__(self, other: Vector | float) -> Vector:
        return Vector(self.builder, self.builder.fsub(self.value, self.operand(other)))

    def __rsub__(self, other: float) -> Vector:
        return Vector(self.builder, self.builder.fsub(self.operand(other), self.value))

    def __mul__(self, other: Vector | float) -> Vector:
        return Vector(self.builder, self.builder.fmul(self.value, self.operand(other)))

    def __truediv__(self, other: Vector | float) -> Vector:
        return Vector(self.builder, self.builder.fdiv(self.value, self.operand(other)))

    def __rtruediv__(self, other: float) -> Vector:
        return Vector(self.builder, self.builder.fdiv(self.operand(other), self.value))

    def __gt__(self, other: Vector | float) -> Condition:
        return Condition(self.builder, self.builder.fcmp_ordered(">", self.value, self.operand(other)))

    def __lt__(self, other: Vector | float) -> Condition:
        return Condition(self.builder, self.builder.fcmp_ordered("<", self.value, self.operand(other)))

    def shuffle(self, other: Vector, lanes: Sequence[int]) -> Vector:
        """The lanes of this vector and, after them, of another, by their numbers."""
        mask = ir.Constant(ir.VectorType(_INT32, len(lanes)), list(lanes))
        return Vector(self.builder, self.builder.shuffle_vector(self.value, other.value, mask))

    def call(self, name: str) -> Vector:
        """A function that LLVM has for vectors, such as ``rint``."""
        kind = ir.FunctionType(self.value.type, [self.value.type])
        function = cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.{name}.v{self.lanes}f32")
        return Vector(self.builder, self.builder.call(function, [self.value]))


@dataclass(frozen=True)
class Array:
    """A flat array of float32, float64 or int32."""

    builder: ir.IRBuilder
    data: ir.Value

    def _address(self, index: Index | int, kind: ir.Type) -> ir.Value:
        place = index.value if isinstance(index, Index) else ir.Constant(ir.IntType(64), index)
        return self.builder.bitcast(self.builder.gep(self.data, [place]), kind.as_pointer())

    def load(self, index: Index | int, lanes: int = LANES) -> Vector:
        """``array[index : index + lanes]``."""
        value = self.builder.load(self._address(index, ir.VectorType(_FLOAT, lanes)))
        value.align = 4
        return Vector(self.builder, value)

    def store(self, index: Index | int, vector: Vector) -> None:
        """``array[index : index + lanes] = vector``."""
        self.builder.store(vector.value, self._address(index, vector.value.type)).align = 4

    def add_float64(self, index: Index, vector: Vector) -> None:
        """``array[index : index + lanes] += vector``, for an array of float64."""
        kind = ir.VectorType(ir.DoubleType(), vector.lanes)
        place = self._address(index, kind)
        total = self.builder.load(place)
        total.align = 8
        self.builder.store(self.builder.fadd(total, self.builder.fpext(vector.value, kind)), place).align = 8

    def number(self, index: Index) -> Number:
        """``array[index]``, for an array of float32."""
        return Number(self.builder, self.builder.load(self.builder.gep(self.data, [index.value])))

    def store_number(self, index: Index, number: Number) -> None:
        """``array[index] = number``."""
        self.builder.store(number.value, self.builder.gep(self.data, [index.value]))

    def integer(self, index: Index) -> Index:
        """``array[index]``, for an array of int32."""
        value = self.builder.load(self.builder.gep(self.data, [index.value]))
        return Index(self.builder, self.builder.sext(value, index.value.type))

    def constant(self, number: float, lanes: int = LANES) -> Vector:
        """A vector that repeats a number."""
        return Vector(self.builder, _constant(number, lanes))

    def prefetch(self, index: Index) -> None:
        """Start to load the cache line of ``array[index]``."""
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, _INT32, _INT32, _INT32])
        function = cgutils.get_or_insert_function(self.builder.module, kind, "llvm.prefetch.p0")
        modes = [ir.Constant(_INT32, mode) for mode in (0, 3, 1)]  # for reading, into all caches, data
        self.builder.call(function, [self._address(index, ir.IntType(8)), *modes])


class Variable:
    """A vector that changes: ``value`` is read and assigned."""

    def __init__(self, start: Vector) -> None:
        self._builder = start.builder
        self._slot = cgutils.alloca_once_value(start.builder, start.value)

    @property
    def value(self) -> Vector:
        return Vector(self._builder, self._builder.load(self._slot))

    @value.setter
    def value(self, vector: Vector) -> None:
        self._builder.store(vector.value, self._slot)


# ---------------------------------------------------------------- loops and branches


def loop(begin: Index | int, end: Index, step: int = 1) -> Iterator[Index]:
    """Indices from ``begin`` to below ``end``; the body of the ``for`` statement is traced once."""
    first, stride = end.operand(begin), end.operand(step)
    with cgutils.for_range_slice(end.builder, first, end.value, stride) as (index, _):
        yield Index(end.builder, index)


def when(condition: Condition) -> Iterator[None]:
    """The body of the ``for`` statement runs if the condition holds."""
    with condition.builder.if_then(condition.value):
        yield


def branch(condition: Condition, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
    """Call one of two functions."""
    with condition.builder.if_else(condition.value) as (yes, no):
        with yes:
            then()
        with no:
            otherwise()


# ---------------------------------------------------------------- functions of vectors


def select(condition: Condition, a: Vector, b: Vector | float) -> Vector:
    """``a`` where the condition holds, ``b`` elsewhere."""
    return Vector(a.builder, a.builder.select(condition.value, a.value, a.operand(b)))


def equal(a: Index, b: int) -> Condition:
    """Whether two integers are equal."""
    return Condition(a.builder, a.builder.icmp_signed("==", a.value, a.operand(b)))


def first_lanes(count: Index) -> Condition:
    """Which of eight lanes come before the lane ``count``."""
    builder, kind = count.builder, ir.VectorType(_INT32, LANES)
    limit = _splat(builder, builder.trunc(count.value, _INT32), kind)
    return Condition(builder, builder.icmp_signed("<", ir.Constant(kind, list(range(LANES))), limit))


def broadcast(number: Number, lanes: int = LANES) -> Vector:
    """A vector that repeats a number."""
    return Vector(number.builder, _splat(number.builder, number.value, ir.VectorType(_FLOAT, lanes)))


def concatenate(parts: list[Vector]) -> Vector:
    """One vector of 2^k equal parts."""
    while len(parts) > 1:
        whole = range(2 * parts[0].lanes)
        parts = [parts[k].shuffle(parts[k + 1], whole) for k in range(0, len(parts), 2)]
    return parts[0]


def lanes_of(vector: Vector, first: int, count: int) -> Vector:
    """Lanes ``first`` to ``first + count``."""
    return vector.shuffle(vector, range(first, first + count))


def maximum(a: Vector, b: Vector | float) -> Vector:
    """The larger of both, lane by lane."""
    return select(a > b, a, b)


def multiply_add(a: Vector, b: Vector, c: Vector | float) -> Vector:
    """``a * b + c``, rounded once or twice."""
    product = a.builder.fmul(a.value, b.value, flags=_CONTRACT)
    return Vector(a.builder, a.builder.fadd(product, a.operand(c), flags=_CONTRACT))


def absolute(a: Vector) -> Vector:
    """``|a|``."""
    return a.call("fabs")


def sum_of_lanes(a: Vector) -> Number:
    """The sum of eight lanes."""
    return _folded(a, lambda one, other: one + other)


def largest_lane(a: Vector) -> Number:
    """The largest of eight lanes."""
    return _folded(a, maximum)


def exp(x: Vector) -> Vector:
    """exp(x) for x <= 0, to 2e-7 and a rounding error of x; 0 below ``LOWEST``."""
    return exp2(x * LOG2_E)


def exp2(y: Vector) -> Vector:
    """2^y for y <= 0; 0 where that is below the exponential of ``LOWEST``.

    2^y = 2^n 2^r with n the nearest integer: a polynomial gives 2^r, and n is added to the bits of its exponent.
    """
    builder, bits = y.builder, ir.VectorType(_INT32, y.lanes)
    n = y.call("rint")
    r, p = y - n, Vector(builder, _constant(EXP2_POLYNOMIAL[0], y.lanes))
    for coefficient in EXP2_POLYNOMIAL[1:]:
        p = multiply_add(p, r, coefficient)
    exponent = builder.shl(builder.fptosi(n.value, bits), ir.Constant(bits, [23] * y.lanes))
    scaled = builder.bitcast(builder.add(builder.bitcast(p.value, bits), exponent), y.value.type)
    return select(y > LOWEST * LOG2_E, Vector(builder, scaled), 0.0)


def log(x: Vector) -> Vector:
    """The logarithm of positive numbers, to 2e-7; of 0 something finite.

    x = 2^n m with m between sqrt(1/2) and sqrt(2): n log 2 + log m, the second as a series of t = (m - 1) / (m + 1).
    """
    builder, kind = x.builder, ir.VectorType(_INT32, x.lanes)

    def integers(number: int) -> ir.Value:
        return ir.Constant(kind, [number] * x.lanes)

    bits = builder.bitcast(x.value, kind)
    exponent = builder.sub(builder.ashr(bits, integers(23)), integers(127))
    fraction = builder.or_(builder.and_(bits, integers(0x7FFFFF)), integers(127 << 23))
    n = Vector(builder, builder.sitofp(exponent, x.value.type))
    m = Vector(builder, builder.bitcast(fraction, x.value.type))
    upper = m > 1.4142135
    m, n = select(upper, m * 0.5, m), select(upper, n + 1.0, n)
    t = (m - 1.0) / (m + 1.0)
    square, series = t * t, Vector(builder, _constant(LOG_SERIES[0], x.lanes))
    for coefficient in LOG_SERIES[1:]:
        series = multiply_add(series, square, coefficient)
    return multiply_add(t * 2.0, series, n * LN2)


def _constant(number: float, lanes: int) -> ir.Value:
    return ir.Constant(ir.VectorType(_FLOAT, lanes), [float(np.float32(number))] * lanes)


def _splat(builder: ir.IRBuilder, number: ir.Value, kind: ir.VectorType) -> ir.Value:
    """A vector with a number in all lanes."""
    undefined = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(undefined, number, cgutils.int32_t(0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_INT32, kind.count), [0] * kind.count))


def _folded(a: Vector, combine: Callable[[Vector, Vector], Vector]) -> Number:
    """One number from eight lanes, by halves."""
    for half in (4, 2, 1):
        a = combine(a, a.shuffle(a, [(lane + half) % LANES for lane in range(LANES)]))
    return Number(a.builder, a.builder.extract_element(a.value, cgutils.int32_t(0)))


# ---------------------------------------------------------------- from a function of vectors to one of arrays


def simd_function(emit: Callable[..., Number | None]) -> Any:
    """Make a function on the classes above callable from kernels.

    ``emit`` takes an `Array` for each flat array, an `Index` for an integer, a `Number` for a float and a `Condition`
    for a boolean; it returns a `Number` or None.
    """
    parameters = inspect.signature(emit)
    returns = types.void if parameters.return_annotation in (None, "None") else types.float32

    def typed(context: Any, *kinds: Any) -> Any:  # noqa: ARG001
        return returns(*map(_argument_type, kinds)), generate

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Sequence[ir.Value]) -> ir.Value:
        traced = [_traced(context, builder, *one) for one in zip(signature.args, arguments, strict=True)]
        result = emit(*traced)
        return context.get_dummy_value() if result is None else result.value

    first = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    typed.__signature__ = inspect.Signature([first, *parameters.parameters.values()])  # type: ignore[attr-defined]
    typed.__name__, typed.__module__ = emit.__name__, emit.__module__
    return intrinsic(typed)


def _argument_type(kind: Any) -> Any:
    """The type to which Numba casts an argument."""
    if isinstance(kind, types.Integer):
        return types.intp
    return types.float32 if isinstance(kind, types.Float) else kind


def _traced(context: Any, builder: ir.IRBuilder, kind: Any, value: ir.Value) -> Array | Index | Number | Condition:
    if isinstance(kind, types.Array):
        return Array(builder, context.make_array(kind)(context, builder, value).data)
    if isinstance(kind, types.Integer):
        return Index(builder, value)
    return Number(builder, value) if isinstance(kind, types.Float) else Condition(builder, value)
