"""The mean-field update of a dense field: costs to probabilities, with the terms of the free energy on the way."""

from __future__ import annotations

import numpy as np
from numba import njit

from mixfield.kernels import pixel_rows
from mixfield.kernels.bits import reread
from mixfield.kernels.pixel_rows import LOWEST

FAR = np.float32(1e30)
LOG2_E = np.float32(pixel_rows.LOG2_E)
LN2_HIGH, LN2_LOW = np.float32(pixel_rows.LN2_HIGH), np.float32(pixel_rows.LN2_LOW)


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def exponentials(x, top, cooling, out, total):
    """x = (x - top) * cooling, none above zero; out = exp(x) to 3e-7, added to ``total``."""
    for j in range(len(x)):
        s = (x[j] - top[j]) * cooling[j]
        x[j] = s
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
        out[j] = e
        total[j] += e


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
def _turn(rows, first, count, labels, n_modes, out):
    """Values (L * K) of a few pixels as one column for each label (L, count * K)."""
    for l in range(labels):
        if n_modes == 1:
            for i in range(count):
                out[l, i] = rows[first + i, l]
        else:
            for i in range(count):
                for k in range(n_modes):
                    out[l, i * n_modes + k] = rows[first + i, l * n_modes + k]


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _turn_back(columns, first, count, labels, n_modes, rows):
    """Columns (L, count * K) as values (L * K) of a few pixels."""
    for l in range(labels):
        if n_modes == 1:
            for i in range(count):
                rows[first + i, l] = columns[l, i]
        else:
            for i in range(count):
                for k in range(n_modes):
                    rows[first + i, l * n_modes + k] = columns[l, i * n_modes + k]


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _repeat(rows, first, count, n_modes, out):
    """Values (L) of a few pixels as one column for each label (L, count * K), the same for all modes."""
    for l in range(rows.shape[1]):
        for i in range(count):
            value = rows[first + i, l]
            for k in range(n_modes):
                out[l, i * n_modes + k] = value


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _complete(columns, per_mode, total, first, count, n_modes):
    """Fill in the last label, whose value makes all of them sum to the pixel's ``total``."""
    for i in range(count):
        for k in range(n_modes):
            columns[per_mode, i * n_modes + k] = total[first + i]
    for l in range(per_mode):
        for j in range(count * n_modes):
            columns[per_mode, j] -= columns[l, j]


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _subtract(heard, costs, z, top):
    """What is heard minus costs (L, size) into ``z``, and the largest of each column into ``top``."""
    for l in range(len(costs)):
        for j in range(len(top)):
            z[l, j] = heard[l, j] - costs[l, j]
    for j in range(len(top)):
        top[j] = z[0, j]
    for l in range(1, len(costs)):
        for j in range(len(top)):
            top[j] = max(top[j], z[l, j])


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _normalise(q, total):
    """Divide ``q`` (L, size) by its ``total``."""
    for l in range(len(q)):
        for j in range(q.shape[1]):
            q[l, j] /= total[j]


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _add_dots(a, b, size, here, out):
    """Add products of ``a`` and ``b`` (L, size) to ``out`` (size,), through ``here`` (size,)."""
    for j in range(size):
        here[j] = a[0, j] * b[0, j]
    for l in range(1, len(a)):
        for j in range(size):
            here[j] += a[l, j] * b[l, j]
    for j in range(size):
        out[j] += here[j]


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _logarithms(values, out):
    """Logarithms of values (L, size), where they are positive."""
    for l in range(len(values)):
        for j in range(values.shape[1]):
            out[l, j] = _logarithm(values[l, j])


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _raise(q, was, size, moved):
    """Raise ``moved`` (size,) to the largest change of a probability."""
    for l in range(len(q)):
        for j in range(size):
            moved[j] = max(moved[j], abs(q[l, j] - was[l, j]))


@njit(cache=True, nogil=True, error_model="numpy")
def update(unary, bias, support, field, old, per_mode, cooling, watch, first, last, new, seen, moved):
    """One update of every mode at pixels ``first`` to ``last``.

    unary (n, L) costs; bias (n, L * K) further costs of each mode, or (n, 0).  ``field`` (last - first, C) is the
    support that each label gets from the other pixels, for the first ``per_mode`` of the L labels, all or all but one;
    in the second case the labels share ``support`` (n,).  Numbers of the K modes lie side by side, label after label.
    ``old`` and ``new`` (n, C) hold probabilities in the same layout.  ``cooling`` (K,) is 1 / T.

    If ``watch``, adds to ``seen`` (5, s * K), one column for each of the modes of s pixels that go together, old *
    field, new * field, new * z, top, and the logarithm of the normaliser, where z = (field - costs - top) / T; and
    raises ``moved`` (s * K,) to the largest changes.
    """
    n_labels, n_modes, span = unary.shape[1], len(cooling), len(moved) // len(cooling)
    z, q = np.zeros((n_labels, len(moved)), np.float32), np.empty((n_labels, len(moved)), np.float32)
    heard, was = np.zeros((n_labels, len(moved)), np.float32), np.zeros((n_labels, len(moved)), np.float32)
    costs, ones = np.zeros((n_labels, len(moved)), np.float32), np.ones((1, len(moved)), np.float32)
    total, top = np.ones((1, len(moved)), np.float32), np.zeros((1, len(moved)), np.float32)
    factor, here = np.empty(len(moved), np.float32), np.empty(len(moved), np.float32)
    zero = np.int64(0)  # a plain 0 is a type of its own, and is compiled for once more
    for j in range(len(factor)):
        factor[j] = cooling[j % n_modes]
    for p in range(first, last, span):
        count = min(span, last - p)
        size = count * n_modes
        _turn(field, p - first, count, per_mode, n_modes, heard)
        if per_mode < n_labels:
            _complete(heard, per_mode, support, p, count, n_modes)
        if n_modes == 1:
            _turn(unary, p, count, n_labels, n_modes, costs)
        else:
            _repeat(unary, p, count, n_modes, costs)
        _subtract(heard, costs, z, top[0])
        if bias.shape[1]:
            _turn(bias, p, count, n_labels, n_modes, costs)
            _subtract(z, costs, z, top[0])
        total[0, :] = 0.0
        for l in range(n_labels):
            exponentials(z[l], top[0], factor, q[l], total[0])
        _normalise(q, total[0])
        _turn_back(q, p, count, per_mode, n_modes, new)
        if watch:
            _turn(old, p, count, per_mode, n_modes, was)
            if per_mode < n_labels:
                _complete(was, per_mode, ones[0], zero, count, n_modes)
            _add_dots(was, heard, size, here, seen[0])
            _add_dots(q, heard, size, here, seen[1])
            _add_dots(q, z, size, here, seen[2])
            _add_dots(top, ones, size, here, seen[3])
            _logarithms(total, total)
            _add_dots(total, ones, size, here, seen[4])
            _raise(q, was, size, moved)


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _shut(costs, q):
    """Nothing is left of forbidden labels; the label that follows from the others may keep a rounding error."""
    for l in range(len(q)):
        for j in range(q.shape[1]):
            q[l, j] = q[l, j] if q[l, j] > 0 and costs[l, j] < np.float32(1e6) else np.float32(0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def bound_terms(unary, bias, support, field, values, per_mode, n_modes, first, last, seen):
    """Add to ``seen`` (3, s * K) the support, cost and minus the entropy of ``values`` at pixels ``first`` to ``last``.

    The layout is that of `update`.
    """
    n_labels, width, zero = unary.shape[1], seen.shape[1], np.int64(0)
    q, heard = np.zeros((n_labels, width), np.float32), np.zeros((n_labels, width), np.float32)
    costs, ones = np.zeros((n_labels, width), np.float32), np.ones(width, np.float32)
    here = np.empty(width, np.float32)
    span = width // n_modes
    for p in range(first, last, span):
        count = min(span, last - p)
        size = count * n_modes
        _turn(field, p - first, count, per_mode, n_modes, heard)
        _turn(values, p, count, per_mode, n_modes, q)
        if per_mode < n_labels:
            _complete(heard, per_mode, support, p, count, n_modes)
            _complete(q, per_mode, ones, zero, count, n_modes)
        _repeat(unary, p, count, n_modes, costs)
        _shut(costs, q)
        _add_dots(q, costs, size, here, seen[1])
        if bias.shape[1]:
            _turn(bias, p, count, n_labels, n_modes, costs)
            _shut(costs, q)
            _add_dots(q, costs, size, here, seen[1])
        _add_dots(q, heard, size, here, seen[0])
        _logarithms(q, costs)
        _add_dots(q, costs, size, here, seen[2])


@njit(cache=True, nogil=True, error_model="numpy")
def likeliest(unary, values, per_mode, n_modes, first, last, labels):
    """Labels (K, n) of the largest probability, of equal ones the first, at pixels ``first`` to ``last``."""
    follows = per_mode < unary.shape[1]
    best, rest = np.empty(n_modes, np.float32), np.empty(n_modes, np.float32)
    for p in range(first, last):
        for k in range(n_modes):
            best[k], rest[k], labels[k, p] = values[p, k], np.float32(1.0) - values[p, k], 0
        for l in range(1, per_mode):
            for k in range(n_modes):
                here = values[p, l * n_modes + k]
                rest[k] -= here
                if here > best[k]:
                    best[k], labels[k, p] = here, l
        for k in range(n_modes if follows and unary[p, per_mode] < np.float32(1e6) else 0):
            if rest[k] > best[k]:
                labels[k, p] = per_mode


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def mix_add(filtered, compatibility, n_modes, out):
    """Take ``compatibility`` (L, L) costs between labels, times ``filtered`` (b, L * K), from ``out``."""
    n_labels = len(compatibility)
    for p in range(len(out)):
        for l in range(n_labels):
            for other in range(n_labels):
                cost = compatibility[l, other]
                for k in range(n_modes):
                    out[p, l * n_modes + k] -= cost * filtered[p, other * n_modes + k]


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
