"""The mean-field update of a dense field: costs to probabilities, with the terms of the free energy on the way."""

from __future__ import annotations

import numpy as np
from numba import njit

from mixfield.kernels import columns, vectors
from mixfield.kernels.bits import reread
from mixfield.kernels.columns import PIXELS, SLOTS, VALUES, places
from mixfield.kernels.vectors import LANES, LOWEST

SPAN = 256  # pixels that go through each step together
LOG2_E = np.float32(vectors.LOG2_E)
POLYNOMIAL = tuple(np.float32(coefficient) for coefficient in vectors.POLYNOMIAL)


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def exponentials(x, out):
    """The exponentials of numbers not above zero, as `vectors.exponential` has them."""
    for j in range(len(x)):
        y = x[j] * LOG2_E
        n = np.rint(y)
        r = y - n
        p = POLYNOMIAL[0]
        for k in range(1, len(POLYNOMIAL)):
            p = p * r + POLYNOMIAL[k]
        out[j] = p * reread(np.int32((np.int32(n) + 127) << 23)) if x[j] > LOWEST else np.float32(0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def update(unary, bias, support, field, old, per_mode, cooling, watch, first, last, new, seen, moved):
    """One update of every mode at pixels ``first`` to ``last``.

    unary (n, L) costs; bias (n, L * K) further costs of each mode, or (n, 0).  ``field`` (last - first, C) is the
    support that each label gets from the other pixels, for the first ``per_mode`` of the L labels, all or all but one;
    in the second case the labels share ``support`` (n,).  Numbers of the K modes lie side by side, label after label.
    ``old`` and ``new`` (last - first, C) hold probabilities in the same layout, and may be the same memory.
    ``cooling`` (K,) is 1 / T.

    If ``watch``, adds to ``seen`` (3, s * K), one column for each of the modes of s pixels that go together, the
    support of ``old`` and the costs and entropy of ``new``; and raises ``moved`` (s * K,) to the largest changes.
    """
    n_labels, n_modes, width, channels = unary.shape[1], len(cooling), len(moved), new.shape[1]
    flat = unary.reshape(-1), bias.reshape(-1), field.reshape(-1), old.reshape(-1), new.reshape(-1), seen.reshape(-1)
    costs, further, heard, was, q, sums = flat
    span, where = width // n_modes, np.empty((4, width), np.int32)
    factor, work, places_of = np.empty(width, np.float32), np.empty(n_labels * SLOTS * LANES, np.float32), np.int64(0)
    for p in range(first, last, span):
        count = min(span, last - p)
        if count != places_of:
            places(n_modes, channels, n_labels, count, where)
            places_of = count
            for c in range(width):
                factor[c] = cooling[where[VALUES, c] - where[PIXELS, c] * channels]
        size, at = count * n_modes, (p - first) * channels
        spot = p * n_labels * n_modes if bias.shape[1] else np.int64(-1)
        for c in range(0, size, LANES):
            columns.update(
                heard, at, costs, p * n_labels, further, spot, support, p, was, q, at, where.reshape(-1), width,
                c, size, n_labels, per_mode, n_modes, factor, watch, work, sums, moved,
            )  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def bound_terms(unary, bias, support, field, values, per_mode, n_modes, first, last, seen):
    """Add to ``seen`` (3, s * K) the support, cost and minus the entropy of ``values`` at pixels ``first`` to ``last``.

    The layout is that of `update`.
    """
    n_labels, width, channels = unary.shape[1], seen.shape[1], values.shape[1]
    costs, further, heard, q, sums = (
        unary.reshape(-1), bias.reshape(-1), field.reshape(-1), values.reshape(-1), seen.reshape(-1)
    )  # fmt: skip
    span, where, places_of = width // n_modes, np.empty((4, width), np.int32), np.int64(0)
    for p in range(first, last, span):
        count = min(span, last - p)
        if count != places_of:
            places(n_modes, channels, n_labels, count, where)
            places_of = count
        size, at = count * n_modes, (p - first) * channels
        spot = p * n_labels * n_modes if bias.shape[1] else np.int64(-1)
        for c in range(0, size, LANES):
            columns.tell(
                heard, at, costs, p * n_labels, further, spot, support, p, q, at, where.reshape(-1), width,
                c, size, n_labels, per_mode, n_modes, sums,
            )  # fmt: skip


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


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def largest_totals(unary, labels, factor, first, last, total):
    """Raise ``total`` (k,) to the largest sum of factor * exp(least cost - cost) over the first labels of a pixel."""
    least, gap, here = np.zeros(SPAN, np.float32), np.zeros(SPAN, np.float32), np.zeros(SPAN, np.float32)
    odds = np.empty(SPAN, np.float32)
    for p in range(first, last, SPAN):
        count = min(SPAN, last - p)
        for i in range(count):
            least[i] = unary[p + i, 0]
        for l in range(1, unary.shape[1]):
            for i in range(count):
                least[i] = min(least[i], unary[p + i, l])
        here[:] = 0.0
        for k in range(len(labels)):
            for i in range(count):
                gap[i] = max(least[i] - unary[p + i, labels[k]], np.float32(-16.0))  # rounded up below that
            exponentials(gap, odds)
            largest, share = np.float32(0.0), np.float32(factor[k])
            for i in range(count):
                here[i] += share * odds[i]
                largest = max(largest, here[i])
            total[k] = max(total[k], largest)


@njit(cache=True, nogil=True, error_model="numpy")
def movers(old, new, threshold):
    """Pixels that change by more than ``threshold``."""
    found = np.empty(len(old), np.int64)
    count = 0
    for p in range(len(old)):
        moved = np.float32(0.0)
        for c in range(old.shape[1]):
            moved = max(moved, abs(new[p, c] - old[p, c]))
        if moved > threshold:
            found[count] = p
            count += 1
    return found[:count].copy()
