"""The mean-field update of dense fields: costs to probabilities, with the terms of the free energy.

    q_i(l) = exp(z_i(l)) / sum_m exp(z_i(m)),   z_i(l) = (support_i(l) - costs_i(l) - bias_i(l)) / T

Arrays have one row for each of n pixels.  The numbers of K modes are side by side, label after label: column l * K + k
of an array (n, C) belongs to label l of mode k; C >= L * K is padded with zeros to a multiple of four.
"""

from __future__ import annotations

import numpy as np

from mixfield.kernels import pixel_modes
from mixfield.kernels.constants import FORBIDDEN, LANES
from mixfield.kernels.jit import Float32s, Floats, Int32s, Int64s, Integer, Real, jit
from mixfield.kernels.pixel_modes import PIXELS, SLOTS, VALUES, pair_offsets
from mixfield.kernels.simd import Array, Index, exp, loop, simd_function

SPAN = 256  # pixels that share each step of `largest_totals`
N_SLOTS = len(SLOTS)


def _exponentials(x: Array, size: Index, out: Array) -> None:
    """out = exp(x) for x <= 0; ``size`` is a multiple of eight."""
    for i in loop(0, size, LANES):
        out.store(i, exp(x.load(i)))


exponentials = simd_function(_exponentials)


@jit()
def update(
    costs: Float32s, bias: Float32s, total_support: Float32s, support: Float32s, old: Float32s, stored: Integer,
    beta: Float32s, monitor: bool, first: Integer, last: Integer, new: Float32s, terms: Floats, changes: Float32s,
) -> None:  # fmt: skip
    """One update of every mode at pixels ``first`` to ``last``.

    costs (n, L); bias (n, L * K) additional costs of each mode, or (n, 0).  ``support`` (last - first, C) is that of
    the first ``stored`` labels, L or L - 1; with L - 1 of them, the support of all sums to ``total_support`` (n,).
    ``old`` and ``new`` (last - first, C) hold probabilities, and may be the same memory.  ``beta`` (K,) is 1 / T.

    If ``monitor``, adds to ``terms`` (3, s * K), one column for each of the modes of s pixels, the
    support of ``old`` and the cost and entropy of ``new``; and raises ``changes`` (s * K,) to the largest changes.
    """
    n_labels, n_modes, width, channels = costs.shape[1], len(beta), len(changes), new.shape[1]
    flat_costs, flat_bias, flat_support = costs.reshape(-1), bias.reshape(-1), support.reshape(-1)
    flat_old, flat_new, flat_terms = old.reshape(-1), new.reshape(-1), terms.reshape(-1)
    span, offsets = width // n_modes, np.empty((4, width), np.int32)
    offsets_of: Integer = np.int64(0)  # the number of pixels for which the offsets were made
    betas, work = np.empty(width, np.float32), np.empty(n_labels * N_SLOTS * LANES, np.float32)
    for p in range(first, last, span):
        count = min(span, last - p)
        if count != offsets_of:
            pair_offsets(n_modes, channels, n_labels, count, offsets)
            offsets_of = count
            for c in range(width):
                betas[c] = beta[offsets[VALUES, c] - offsets[PIXELS, c] * channels]
        size, at = count * n_modes, (p - first) * channels
        bias_at = p * n_labels * n_modes if bias.shape[1] else np.int64(-1)
        for c in range(0, size, LANES):
            pixel_modes.update(
                flat_support, at, flat_costs, p * n_labels, flat_bias, bias_at, total_support, p, flat_old, flat_new,
                offsets.reshape(-1), width, c, size, n_labels, stored, n_modes, betas, monitor, work, flat_terms,
                changes,
            )  # fmt: skip


@jit()
def bound_terms(
    costs: Float32s, bias: Float32s, total_support: Float32s, support: Float32s, values: Float32s, stored: Integer,
    n_modes: Integer, first: Integer, last: Integer, terms: Floats,
) -> None:  # fmt: skip
    """Add to ``terms`` (3, s * K) the support, cost and minus the entropy of ``values`` (last - first, C).

    Arrays and pixels as in `update`.
    """
    n_labels, width, channels = costs.shape[1], terms.shape[1], values.shape[1]
    flat_costs, flat_bias, flat_support = costs.reshape(-1), bias.reshape(-1), support.reshape(-1)
    flat_values, flat_terms = values.reshape(-1), terms.reshape(-1)
    span, offsets = width // n_modes, np.empty((4, width), np.int32)
    offsets_of: Integer = np.int64(0)  # the number of pixels for which the offsets were made
    for p in range(first, last, span):
        count = min(span, last - p)
        if count != offsets_of:
            pair_offsets(n_modes, channels, n_labels, count, offsets)
            offsets_of = count
        size, at = count * n_modes, (p - first) * channels
        bias_at = p * n_labels * n_modes if bias.shape[1] else np.int64(-1)
        for c in range(0, size, LANES):
            pixel_modes.add_bound_terms(
                flat_support, at, flat_costs, p * n_labels, flat_bias, bias_at, total_support, p, flat_values,
                offsets.reshape(-1), width, c, size, n_labels, stored, n_modes, flat_terms,
            )  # fmt: skip


@jit()
def likeliest(
    costs: Float32s, values: Float32s, stored: Integer, n_modes: Integer, first: Integer, last: Integer,
    labels: Int32s,
) -> None:  # fmt: skip
    """Fill ``labels`` (K, n) with the labels of the largest probability in ``values`` (n, C) at pixels ``first`` to
    ``last``, the first of equal ones."""
    implied = stored < costs.shape[1]  # the last label has the rest of the probability
    best, rest = np.empty(n_modes, np.float32), np.empty(n_modes, np.float32)
    for p in range(first, last):
        for k in range(n_modes):
            best[k], rest[k], labels[k, p] = values[p, k], np.float32(1.0) - values[p, k], 0
        for l in range(1, stored):
            for k in range(n_modes):
                q = values[p, l * n_modes + k]
                rest[k] -= q
                if q > best[k]:
                    best[k], labels[k, p] = q, l
        for k in range(n_modes if implied and costs[p, stored] < FORBIDDEN else 0):
            if rest[k] > best[k]:
                labels[k, p] = stored


@jit()
def probabilities(
    costs: Float32s, values: Float32s, stored: Integer, n_modes: Integer, mode: Integer, points: Int64s,
    labels: Int64s, out: Float32s,
) -> None:  # fmt: skip
    """Fill ``out`` (p,) with the probabilities of one label of each of some points in a mode; see `likeliest`."""
    for i in range(len(points)):
        p, l = points[i], labels[i]
        if l < stored:
            out[i] = values[p, l * n_modes + mode]
            continue
        total = np.float32(0.0)
        for m in range(stored):
            total += values[p, m * n_modes + mode]
        out[i] = max(np.float32(0.0), np.float32(1.0) - total) if costs[p, l] < FORBIDDEN else np.float32(0.0)


@jit()
def marginals(costs: Float32s, values: Float32s, stored: Integer, out: Float32s) -> None:
    """Fill ``out`` (K, n, L) with the probabilities of all labels in ``values`` (n, C); see `likeliest`."""
    n_modes, n, n_labels = out.shape
    for p in range(n):
        for k in range(n_modes):
            total = np.float32(0.0)
            for l in range(stored):
                out[k, p, l] = values[p, l * n_modes + k]
                total += out[k, p, l]
            for l in range(stored, n_labels):
                rest = max(np.float32(0.0), np.float32(1.0) - total)
                out[k, p, l] = rest if costs[p, l] < FORBIDDEN else np.float32(0.0)


@jit()
def copy_columns(
    source: Float32s, columns: Int64s, first: Integer, last: Integer, target: Float32s, places: Int64s
) -> None:
    """Copy ``columns`` (c,) of rows ``first`` to ``last`` of an array (n, C) to ``places`` (c,) of another."""
    for p in range(first, last):
        for c in range(len(columns)):
            target[p, places[c]] = source[p, columns[c]]


@jit(fastmath=True)
def mix_add(filtered: Float32s, compatibility: Float32s, n_modes: Integer, out: Float32s) -> None:
    """out[:, l] -= sum over m of compatibility[l, m] * filtered[:, m], for every mode.

    filtered and out (b, L * K); compatibility (L, L) costs between labels.
    """
    n_labels = len(compatibility)
    for p in range(len(out)):
        for l in range(n_labels):
            for m in range(n_labels):
                cost = compatibility[l, m]
                for k in range(n_modes):
                    out[p, l * n_modes + k] -= cost * filtered[p, m * n_modes + k]


@jit()
def smallest_gaps(costs: Float32s, first: Integer, last: Integer, gap: Float32s) -> None:
    """Lower ``gap`` (L,) to the smallest difference of each label's cost to the least cost of its pixel.

    costs (n, L); pixels ``first`` to ``last``.
    """
    for p in range(first, last):
        least = costs[p, 0]
        for l in range(1, costs.shape[1]):
            least = min(least, costs[p, l])
        for l in range(costs.shape[1]):
            gap[l] = min(gap[l], costs[p, l] - least)


@jit(fastmath=True)
def largest_totals(
    costs: Float32s, labels: Int64s, factor: Floats, first: Integer, last: Integer, total: Floats
) -> None:
    """Raise ``total`` (k,) to the largest sum of factor * exp(least cost - cost) over the first labels of a pixel.

    costs (n, L); labels and factor (k,): total[j] is the sum over labels[: j + 1]; pixels ``first`` to ``last``.
    """
    least, gap, sums = np.zeros(SPAN, np.float32), np.zeros(SPAN, np.float32), np.zeros(SPAN, np.float32)
    odds = np.empty(SPAN, np.float32)
    for p in range(first, last, SPAN):
        count = min(SPAN, last - p)
        for i in range(count):
            least[i] = costs[p + i, 0]
        for l in range(1, costs.shape[1]):
            for i in range(count):
                least[i] = min(least[i], costs[p + i, l])
        sums[:] = 0.0
        for k in range(len(labels)):
            for i in range(count):
                gap[i] = max(least[i] - costs[p + i, labels[k]], np.float32(-16.0))  # rounded up below that
            exponentials(gap, SPAN, odds)
            largest, share = np.float32(0.0), np.float32(factor[k])
            for i in range(count):
                sums[i] += share * odds[i]
                largest = max(largest, sums[i])
            total[k] = max(total[k], largest)


@jit()
def movers(old: Float32s, new: Float32s, threshold: Real) -> Int64s:
    """Pixels whose values (n, C) change by more than ``threshold``."""
    found = np.empty(len(old), np.int64)
    count = 0
    for p in range(len(old)):
        moved = False
        for c in range(old.shape[1]):
            moved |= abs(new[p, c] - old[p, c]) > threshold
        found[count] = p
        count += moved
    return found[:count].copy()


@jit()
def moved_rows(
    old: Float32s, new: Float32s, support: Float32s, channels: Int64s, threshold: Real, rows: Int64s, out: Float32s
) -> int:
    """Fill ``rows`` (p,) with the rows that change by more than ``threshold`` in some ``channels`` (c,), and ``out``
    (3, p, c or more) with these channels of ``old``, ``new`` and ``support`` (p, C), then zeros; returns how many."""
    count = 0
    for p in range(len(old)):
        moved = False
        for c in channels:
            moved |= abs(new[p, c] - old[p, c]) > threshold
        if moved:
            rows[count] = p
            for j in range(len(channels)):
                out[0, count, j], out[1, count, j] = old[p, channels[j]], new[p, channels[j]]
                out[2, count, j] = support[p, channels[j]]
            out[:, count, len(channels) :] = 0.0
            count += 1
    return count
