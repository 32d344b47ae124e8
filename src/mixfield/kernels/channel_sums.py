"""Weighted sums of rows, vectorised over channels: the inner loops of the lattice, the coarse grid and the separable
filter.

A row holds the C channels of a pixel or of a vertex side by side; C is a multiple of four, and eight or four channels
share a register.  All arrays are flat: row r of a table (m, C) begins at r * C.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mixfield.kernels.jit import Float32s, Int32s, Integer, Real, jit
from mixfield.kernels.simd import Array, Index, Number, Variable, broadcast, loop, multiply_add, simd_function

AHEAD = 8  # rows, points or vertices that are prefetched in advance


def _gather(lanes: int, copies: int) -> Any:
    """`gather_add` for lanes * copies of the channels, from ``shift`` on."""

    def gather(
        source: Array, row: Array, weight: Array, begin: Index, end: Index, channels: Index, shift: Index,
        out: Array, at: Index,
    ) -> None:  # fmt: skip
        totals = [Variable(out.load(at + k, lanes)) for k in range(0, copies * lanes, lanes)]
        for e in loop(begin, end):
            first, factor = row.integer(e) * channels + shift, broadcast(weight.number(e), lanes)
            for k, total in enumerate(totals):
                total.value = multiply_add(factor, source.load(first + k * lanes, lanes), total.value)
        for k, total in enumerate(totals):
            out.store(at + k * lanes, total.value)

    return simd_function(gather)


def _scatter(lanes: int, copies: int) -> Any:
    """`scatter_add` for lanes * copies of the channels, from ``shift`` on."""

    def scatter(
        source: Array, at: Index, gain: Number, row: Array, weight: Array, begin: Index, end: Index, channels: Index,
        shift: Index, out: Array,
    ) -> None:  # fmt: skip
        values = [source.load(at + k * lanes, lanes) * broadcast(gain, lanes) for k in range(copies)]
        for e in loop(begin, end):
            first, factor = row.integer(e) * channels + shift, broadcast(weight.number(e), lanes)
            for k, value in enumerate(values):
                place = first + k * lanes
                out.store(place, multiply_add(factor, value, out.load(place, lanes)))

    return simd_function(scatter)


def _blur(lanes: int, copies: int) -> Any:
    """`blur_chains` for lanes * copies of the channels, from ``shift`` on."""

    def blur(
        values: Array, order: Array, links: Array, begin: Index, end: Index, channels: Index, shift: Index
    ) -> None:
        def row(e: Index) -> list[Index]:
            first = order.integer(e) * channels + shift
            return [first + k for k in range(0, copies * lanes, lanes)]

        before = [Variable(values.constant(0.0, lanes)) for _ in range(copies)]
        current = [Variable(values.load(place, lanes)) for place in row(begin)]
        for e in loop(begin, end):
            if copies > 1:  # rows of more than one cache line, in an order that the processor cannot guess
                for place in row(e + AHEAD)[::2]:
                    values.prefetch(place)
            factor = broadcast(links.number(e), lanes)
            following = [values.load(place, lanes) for place in row(e + 1)]
            for place, last, this, after in zip(row(e), before, current, following, strict=True):
                value = this.value
                values.store(place, multiply_add(factor, after, value + last.value))
                last.value = factor * value
                this.value = after

    return simd_function(blur)


def _correlate(lanes: int, copies: int) -> Any:
    """`correlate` for lanes * copies numbers."""

    def correlate(
        source: Array, start: Index, stride: Index, weight: Array, begin: Index, end: Index, out: Array, at: Index
    ) -> None:
        totals = [Variable(source.constant(0.0, lanes)) for _ in range(copies)]
        for k in loop(begin, end):
            factor, first = broadcast(weight.number(k), lanes), start + k * stride
            for copy, total in enumerate(totals):
                total.value = multiply_add(factor, source.load(first + copy * lanes, lanes), total.value)
        for copy, total in enumerate(totals):
            out.store(at + copy * lanes, total.value)

    return simd_function(correlate)


def _prefetch(array: Array, at: Index) -> None:
    array.prefetch(at)


_gather24, _gather8, _gather4 = _gather(8, 3), _gather(8, 1), _gather(4, 1)
_scatter24, _scatter8, _scatter4 = _scatter(8, 3), _scatter(8, 1), _scatter(4, 1)
_blur32, _blur24, _blur16, _blur8, _blur4 = _blur(8, 4), _blur(8, 3), _blur(8, 2), _blur(8, 1), _blur(4, 1)
_correlate64, _correlate24 = _correlate(8, 8), _correlate(8, 3)
_correlate8, _correlate4 = _correlate(8, 1), _correlate(4, 1)
prefetch = simd_function(_prefetch)


@jit(inline="always")
def gather_add(
    source: Float32s, row: Int32s, weight: Float32s, begin: Integer, end: Integer, channels: Integer,
    out: Float32s, at: Integer,
) -> None:  # fmt: skip
    """out[at : at + C] += sum over e in begin .. end of weight[e] * source[row[e]]."""
    shift = 0
    while shift + 24 <= channels:
        _gather24(source, row, weight, begin, end, channels, shift, out, at + shift)
        shift += 24
    while shift + 8 <= channels:
        _gather8(source, row, weight, begin, end, channels, shift, out, at + shift)
        shift += 8
    if shift < channels:
        _gather4(source, row, weight, begin, end, channels, shift, out, at + shift)


@jit(inline="always")
def scatter_add(
    source: Float32s, at: Integer, gain: Real, row: Int32s, weight: Float32s, begin: Integer, end: Integer,
    channels: Integer, out: Float32s,
) -> None:  # fmt: skip
    """out[row[e]] += gain * weight[e] * source[at : at + C], for e in begin .. end."""
    shift = 0
    while shift + 24 <= channels:
        _scatter24(source, at + shift, gain, row, weight, begin, end, channels, shift, out)
        shift += 24
    while shift + 8 <= channels:
        _scatter8(source, at + shift, gain, row, weight, begin, end, channels, shift, out)
        shift += 8
    if shift < channels:
        _scatter4(source, at + shift, gain, row, weight, begin, end, channels, shift, out)


@jit(inline="always")
def blur_chains(
    values: Float32s, order: Int32s, links: Float32s, begin: Integer, end: Integer, channels: Integer
) -> None:
    """values[order[e]] += links[e - 1] * values[order[e - 1]] + links[e] * values[order[e + 1]], for e in begin .. end.

    All at once, in place; ``order`` has ``AHEAD`` entries more than ``links``, which are prefetched.
    """
    shift = 0
    while shift + 32 <= channels:
        _blur32(values, order, links, begin, end, channels, shift)
        shift += 32
    if channels - shift >= 24:
        _blur24(values, order, links, begin, end, channels, shift)
        shift += 24
    elif channels - shift >= 16:
        _blur16(values, order, links, begin, end, channels, shift)
        shift += 16
    elif channels - shift >= 8:
        _blur8(values, order, links, begin, end, channels, shift)
        shift += 8
    if shift < channels:
        _blur4(values, order, links, begin, end, channels, shift)


@jit()
def correlate(
    source: Float32s, start: Integer, stride: Integer, weight: Float32s, begin: Integer, end: Integer,
    out: Float32s, at: Integer, size: Integer,
) -> None:  # fmt: skip
    """out[at + j] = sum over k in begin .. end of weight[k] * source[start + k * stride + j], for j below ``size``."""
    i = 0
    while i + 64 <= size:
        _correlate64(source, start + i, stride, weight, begin, end, out, at + i)
        i += 64
    while i + 8 <= size:
        _correlate8(source, start + i, stride, weight, begin, end, out, at + i)
        i += 8
    if i + 4 <= size:
        _correlate4(source, start + i, stride, weight, begin, end, out, at + i)
        i += 4
    for j in range(i, size):
        total = np.float32(0.0)
        for k in range(begin, end):
            total += weight[k] * source[start + j + k * stride]
        out[at + j] = total


@jit(inline="always")
def correlate_pixel(
    source: Float32s, start: Integer, channels: Integer, weight: Float32s, begin: Integer, end: Integer,
    out: Float32s, at: Integer,
) -> None:  # fmt: skip
    """out[at : at + C] = sum over k in begin .. end of weight[k] * source[start + k * C :], C a multiple of four."""
    shift = 0
    while shift + 24 <= channels:
        _correlate24(source, start + shift, channels, weight, begin, end, out, at + shift)
        shift += 24
    while shift + 8 <= channels:
        _correlate8(source, start + shift, channels, weight, begin, end, out, at + shift)
        shift += 8
    if shift < channels:
        _correlate4(source, start + shift, channels, weight, begin, end, out, at + shift)
