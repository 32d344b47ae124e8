"""The vectors of `simd` on NumPy arrays, for runs without the compiler.

A vector is a NumPy array, an index is an ``int``, a number is a float, a condition is a boolean or an array of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mixfield.kernels.constants import LANES, LOG2_E, LOWEST
from mixfield.kernels.jit import Bools, Float32s

Index, Number, Vector, Condition = int, float, np.ndarray, np.bool_


class Array:
    """A flat array."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def load(self, index: int, lanes: int = LANES) -> Float32s:
        return np.array(self.array[index : index + lanes])

    def store(self, index: int, vector: Float32s) -> None:
        self.array[index : index + len(vector)] = vector

    def add_float64(self, index: int, vector: Float32s) -> None:
        self.array[index : index + len(vector)] += vector

    def number(self, index: int) -> Any:
        return self.array[index]

    def store_number(self, index: int, number: float) -> None:
        self.array[index] = number

    def integer(self, index: int) -> int:
        return int(self.array[index])

    def constant(self, number: float, lanes: int = LANES) -> Float32s:
        return np.full(lanes, number, np.float32)

    def prefetch(self, index: int) -> None:
        pass


class Variable:
    """A vector that changes."""

    def __init__(self, start: Float32s) -> None:
        self.value = start


def loop(begin: int, end: int, step: int = 1) -> Iterator[int]:
    yield from range(begin, end, step)


def when(condition: bool) -> Iterator[None]:
    if condition:
        yield


def branch(condition: bool, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
    (then if condition else otherwise)()


def equal(a: int, b: int) -> bool:
    return a == b


def select(condition: Bools, a: Float32s, b: Float32s | float) -> Float32s:
    return np.where(condition, a, np.asarray(b, np.float32))


def first_lanes(count: int) -> Bools:
    return np.arange(LANES) < count


def broadcast(number: float, lanes: int = LANES) -> Float32s:
    return np.full(lanes, number, np.float32)


def concatenate(parts: list[Float32s]) -> Float32s:
    return np.concatenate(parts)


def lanes_of(vector: Float32s, first: int, count: int) -> Float32s:
    return vector[first : first + count]


def maximum(a: Float32s, b: Float32s | float) -> Float32s:
    return np.maximum(a, np.asarray(b, np.float32))


def multiply_add(a: Float32s, b: Float32s, c: Float32s) -> Float32s:
    return a * b + c


def absolute(a: Float32s) -> Float32s:
    return np.abs(a)


def sum_of_lanes(a: Float32s) -> np.float32:
    return a.sum(dtype=np.float32)


def largest_lane(a: Float32s) -> np.float32:
    return np.float32(a.max())


def exp(x: Float32s) -> Float32s:
    return exp2(x * np.float32(LOG2_E))


def exp2(y: Float32s) -> Float32s:
    lowest = np.float32(LOWEST * LOG2_E)
    return select(y > lowest, np.exp2(np.maximum(y, lowest)), 0.0)


def log(x: Float32s) -> Float32s:
    return np.log(np.maximum(x, np.float32(1e-38)))


def simd_function(emit: Callable[..., Any]) -> Any:
    def run(*arguments: Any) -> Any:
        with np.errstate(over="ignore"):  # as in registers
            return emit(*(Array(one) if isinstance(one, np.ndarray) else one for one in arguments))

    return run
