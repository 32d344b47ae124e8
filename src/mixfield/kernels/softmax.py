"""The mean-field update of a dense field: costs to probabilities, with the terms of the free energy on the way."""

from __future__ import annotations

import numpy as np
from numba import njit

from mixfield.kernels import pixel_rows
from mixfield.kernels.bits import reread
from mixfield.kernels.pixel_rows import LOWEST

CHUNK = 128  # pixels updated together: contiguous numbers, and one logarithm of the product of their normalisers
FAR = np.float32(1e30)
LOG2_E = np.float32(pixel_rows.LOG2_E)
LN2_HIGH, LN2_LOW = np.float32(pixel_rows.LN2_HIGH), np.float32(pixel_rows.LN2_LOW)


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def exponentials(x, top, cooling, out, total):
    """x = (x - top) * cooling, none above zero; out = exp(x) to 3e-7, added to ``total``."""
    for i in range(len(x)):
        s = (x[i] - top[i]) * cooling
        x[i] = s
        t = s if s > LOWEST else LOWEST
        n = np.floor(t * LOG2_E + np.float32(0.5))
        r = t - n * LN2_HIGH - n * LN2_LOW
        y = np.float32(1.9875691500e-4)
        y = y * r + np.float32(1.3981999507e-3)
        y = y * r + np.float32(8.3334519073e-3)
        y = y * r + np.float32(4.1665795894e-2)
        y = y * r + np.float32(1.6666665459e-1)
        y = y * r + np.float32(5.0000001201e-1)
        y = y * r * r + r + np.float32(1.0)
        e = y * reread(np.int32((np.int32(n) + 127) << 23)) if s > LOWEST else np.float32(0.0)
        out[i] = e
        total[i] += e


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _turn(rows, first, count, channel, labels, out):
    """Some channels of the rows of a few pixels as columns (labels, count)."""
    for l in range(labels):
        for i in range(count):
            out[l, i] = rows[first + i, channel + l]


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _turn_back(columns, first, count, channel, labels, rows):
    """Columns (labels, count) as some channels of the rows of a few pixels."""
    for l in range(labels):
        for i in range(count):
            rows[first + i, channel + l] = columns[l, i]


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _complete(columns, per_mode, total, first, count):
    """Fill in the last label, whose value makes all of them sum to ``total`` from ``first``."""
    for i in range(count):
        columns[per_mode, i] = total[first + i]
    for l in range(per_mode):
        for i in range(count):
            columns[per_mode, i] -= columns[l, i]


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _subtract(heard, costs, z, top):
    """What is heard minus costs (L, count) into ``z``, and the largest of each pixel into ``top``."""
    top[:] = -FAR
    for l in range(len(costs)):
        for i in range(costs.shape[1]):
            value = heard[l, i] - costs[l, i]
            z[l, i] = value
            top[i] = max(top[i], value)


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _dot(a, b, count):
    """Sum of products of the first ``count`` columns of ``a`` and ``b`` (L, count)."""
    total = np.float32(0.0)
    for l in range(len(a)):
        for i in range(count):
            total += a[l, i] * b[l, i]
    return total


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _normalise(z, q, total, count):
    """Divide ``q`` (L, count) by its ``total``; returns the sum of ``q * z``."""
    mean = np.float32(0.0)
    for l in range(len(q)):
        for i in range(count):
            q[l, i] /= total[i]
            mean += q[l, i] * z[l, i]
    return mean


@njit(cache=True, nogil=True, error_model="numpy")
def _log_product(values, count):
    """Sum of logarithms of the first ``count`` values, as the logarithm of their product."""
    total, product = 0.0, 1.0
    for i in range(count):
        product *= values[i]
        if i % 16 == 15:  # far from overflow, whatever the number of labels
            total += np.log(product)
            product = 1.0
    return total + np.log(product)


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _sum(values, count):
    total = np.float32(0.0)
    for i in range(count):
        total += values[i]
    return total


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _distance(q, was, count):
    """Largest change of a probability."""
    moved = np.float32(0.0)
    for l in range(len(q)):
        for i in range(count):
            moved = max(moved, abs(q[l, i] - was[l, i]))
    return moved


@njit(cache=True, nogil=True, error_model="numpy")
def update(unary, bias, bias_of, support, field, old, per_mode, cooling, watch, first, last, new, sums, change):
    """One update of every mode at pixels ``first`` to ``last``.

    unary (n, L) costs; bias (M, n, L) further costs, ``bias_of`` (K,) telling which belongs to a mode (-1: none).
    ``field`` (last - first, C) is the support that each label gets from the other pixels, for the first ``per_mode`` of
    the L labels of each mode, all or all but one; in the second case the labels share ``support`` (n,).  ``old`` and
    ``new`` (n, C) hold probabilities in the same layout.  ``cooling`` (K,) is 1 / T.

    If ``watch``, adds to ``sums`` (K, 3) the support of ``old``, the cost of ``new`` and the entropy of ``new``, and
    raises ``change`` (K,) to the largest change.
    """
    n_labels, zero = unary.shape[1], np.int64(0)  # a plain 0 is a type of its own, and is compiled for once more
    z, q = np.zeros((n_labels, CHUNK), np.float32), np.empty((n_labels, CHUNK), np.float32)
    heard, was = np.zeros((n_labels, CHUNK), np.float32), np.zeros((n_labels, CHUNK), np.float32)
    costs, more = np.zeros((n_labels, CHUNK), np.float32), np.zeros((n_labels, CHUNK), np.float32)
    total, top = np.empty(CHUNK, np.float32), np.empty(CHUNK, np.float32)
    ones = np.empty(CHUNK, np.float32)
    for i in range(CHUNK):
        ones[i] = 1.0
    for p in range(first, last, CHUNK):
        count = min(CHUNK, last - p)
        _turn(unary, p, count, zero, n_labels, costs)
        for k in range(len(bias_of)):
            channel = k * per_mode
            _turn(field, p - first, count, channel, per_mode, heard)
            if per_mode < n_labels:
                _complete(heard, per_mode, support, p, count)
            if bias_of[k] >= 0:
                _turn(bias[bias_of[k]], p, count, zero, n_labels, more)
                _subtract(heard, costs, z, top)
                _subtract(z, more, z, top)
            else:
                _subtract(heard, costs, z, top)
            total[:] = 0.0
            for l in range(n_labels):
                exponentials(z[l], top, cooling[k], q[l], total)
            logit = _normalise(z, q, total, count)
            if watch:
                _turn(old, p, count, channel, per_mode, was)
                if per_mode < n_labels:
                    _complete(was, per_mode, ones, zero, count)
                sums[k, 0] += _dot(was, heard, count)
                # z holds (heard - costs - top) / T: its mean gives the entropy, and the costs without another look
                sums[k, 1] += _dot(q, heard, count) - logit / cooling[k] - _sum(top, count)
                sums[k, 2] += _log_product(total, count) - logit
                change[k] = max(change[k], _distance(q, was, count))
            _turn_back(q, p, count, channel, per_mode, new)


@njit(cache=True, nogil=True, inline="always")
def _logarithm(number):
    """The logarithm, to 2e-7, of a positive single-precision number, without a branch."""
    bits = reread(number)
    exponent, mantissa = (bits >> 23) - 127, np.float32(1.0) + np.float32(bits & 0x7FFFFF) * np.float32(2.0**-23)
    upper = mantissa > np.float32(1.4142135)
    mantissa *= np.float32(0.5) if upper else np.float32(1.0)
    t = (mantissa - np.float32(1.0)) / (mantissa + np.float32(1.0))
    u = t * t
    series = np.float32(1 / 9)
    series = series * u + np.float32(1 / 7)
    series = series * u + np.float32(1 / 5)
    series = series * u + np.float32(1 / 3)
    series = series * u + np.float32(1.0)
    return np.float32(exponent + np.int32(upper)) * np.float32(0.6931471805599453) + np.float32(2.0) * t * series


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def bound_terms(unary, support, field, q, per_mode, n_modes, first, last, sums):
    """Add to ``sums`` (K, 3) the support, unary cost and entropy of ``q`` at pixels ``first`` to ``last``."""
    n_labels, nothing = unary.shape[1], np.float32(0.0)
    for p in range(first, last):
        for k in range(n_modes):
            c = k * per_mode
            supported, cost, logs, rest, left = nothing, nothing, nothing, np.float32(1.0), support[p]
            for l in range(per_mode):
                here, heard = q[p, c + l], field[p - first, c + l]
                rest -= here
                left -= heard
                real = here if unary[p, l] < np.float32(1e6) else nothing
                supported += real * heard
                cost += real * unary[p, l]
                logs += real * _logarithm(here)
            if per_mode < n_labels and rest > 0 and unary[p, per_mode] < np.float32(1e6):
                # a forbidden label may keep the rounding error of 1 - sum
                supported += rest * left
                cost += rest * unary[p, per_mode]
                logs += rest * np.log(rest)
            sums[k, 0] += supported
            sums[k, 1] += cost
            sums[k, 2] -= logs


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def mix_add(filtered, compatibility, n_modes, out):
    """Take ``compatibility`` (L, L) costs between labels, times ``filtered`` (b, K * L), from ``out``."""
    n_labels = len(compatibility)
    for p in range(len(out)):
        for k in range(n_modes):
            c = k * n_labels
            for l in range(n_labels):
                total = np.float32(0.0)
                for other in range(n_labels):
                    total += compatibility[l, other] * filtered[p, c + other]
                out[p, c + l] -= total


@njit(cache=True, nogil=True, error_model="numpy")
def smallest_gaps(unary, first, last, gap):
    """Lower ``gap`` (L,) to the smallest difference of each label's cost to the least cost of its pixel."""
    for p in range(first, last):
        least = unary[p, 0]
        for l in range(1, unary.shape[1]):
            least = min(least, unary[p, l])
        for l in range(unary.shape[1]):
            gap[l] = min(gap[l], unary[p, l] - least)


@njit(cache=True, nogil=True, error_model="numpy")
def largest_totals(unary, labels, factor, first, last, total):
    """Raise ``total`` (k,) to the largest sum of factor * exp(least cost - cost) over the first labels of a pixel."""
    for p in range(first, last):
        least = unary[p, 0]
        for l in range(1, unary.shape[1]):
            least = min(least, unary[p, l])
        here = 0.0
        for k in range(len(labels)):
            gap = min(unary[p, labels[k]] - least, np.float32(16.0))
            here += factor[k] * (np.exp(-gap) if gap < 16 else 1.2e-7)
            total[k] = max(total[k], here)


@njit(cache=True, nogil=True, error_model="numpy")
def movers(old, new, threshold, limit, first, last):
    """Pixels from ``first`` to ``last`` of which a number changes by more than ``threshold``; the first ``limit``."""
    found = np.empty(min(last - first, limit), np.int64)
    count = 0
    for p in range(first, last):
        moved = np.float32(0.0)
        for c in range(old.shape[1]):
            moved = max(moved, abs(new[p, c] - old[p, c]))
        if moved > threshold:
            if count == limit:
                break
            found[count] = p
            count += 1
    return found[:count].copy()
