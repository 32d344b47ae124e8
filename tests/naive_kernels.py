"""The slow, obvious twins of the kernels of dense fields: plain loops, in float64.

Arrays have an axis for everything: marginals are (n, L, K), values of rows (n, C), images (rows, columns, C).
"""

from __future__ import annotations

import itertools
import math

import numpy as np

# ---------------------------------------------------------------- kernels.softmax, kernels.pixel_modes, pixel_rows


def softmax_update(costs, bias, support, old, beta):
    """New marginals; (3, K) support of the old ones, cost and entropy of the new ones; (K,) largest changes."""
    n, n_labels, n_modes = support.shape
    new, terms, changes = np.zeros(support.shape), np.zeros((3, n_modes)), np.zeros(n_modes)
    for i, k in itertools.product(range(n), range(n_modes)):
        logit = [float(support[i, l, k] - costs[i, l] - bias[i, l, k]) * float(beta[k]) for l in range(n_labels)]
        odds = [math.exp(z - max(logit)) for z in logit]
        for l in range(n_labels):
            q = new[i, l, k] = odds[l] / sum(odds)
            terms[0, k] += old[i, l, k] * support[i, l, k]
            terms[1, k] += q * (costs[i, l] + bias[i, l, k])
            terms[2, k] -= q * math.log(q) if q > 0 else 0.0
            changes[k] = max(changes[k], abs(q - old[i, l, k]))
    return new, terms, changes


def softmax_terms(costs, bias, support, q):
    """(3, K) support, cost and minus the entropy of marginals; forbidden labels do not count."""
    terms = np.zeros((3, q.shape[2]))
    for i, l, k in itertools.product(*map(range, q.shape)):
        cost, p = float(costs[i, l] + bias[i, l, k]), float(q[i, l, k])
        if p > 0 and cost < 1e6:
            terms[:, k] += p * support[i, l, k], p * cost, p * math.log(p)
    return terms


def likeliest(q):
    """(K, n) the first label of the largest probability."""
    n, n_labels, n_modes = q.shape
    return [[max(range(n_labels), key=lambda l, i=i, k=k: (q[i, l, k], -l)) for i in range(n)] for k in range(n_modes)]


def mix(filtered, compatibility):
    """(n, L, K) costs between labels times what was filtered."""
    out = np.zeros(filtered.shape)
    for i, l, m, k in itertools.product(range(len(out)), *[range(len(compatibility))] * 2, range(out.shape[2])):
        out[i, l, k] += compatibility[l, m] * filtered[i, m, k]
    return out


def smallest_gaps(costs):
    """(L,) smallest difference of each label's cost to the least cost of its pixel."""
    return [min(float(row[l] - min(row)) for row in costs) for l in range(costs.shape[1])]


def largest_totals(costs, labels, factor):
    """The largest sum over the first labels of factor * exp(least cost - cost), for every number of labels."""
    return [
        max(sum(factor[j] * math.exp(float(min(row) - row[labels[j]])) for j in range(k + 1)) for row in costs)
        for k in range(len(labels))
    ]


def probabilities(q, mode, points, labels):
    """Probabilities of one label of each of some points, from marginals (n, L, K)."""
    return [float(q[p, l, mode]) for p, l in zip(points, labels, strict=True)]


def with_columns(target, source, origin, rows):
    """An array with some columns, in some rows, from others of another array: ``origin`` maps column to column."""
    for p in rows:
        for here, there in origin.items():
            target[p, here] = source[p, there]
    return target


def movers(old, new, threshold):
    """Rows that change by more than a threshold."""
    return [p for p in range(len(old)) if max(abs(a - b) for a, b in zip(old[p], new[p], strict=True)) > threshold]


def moved_rows(old, new, support, channels, threshold):
    """Rows that change by more than a threshold in some channels, with these of all three arrays."""
    rows = movers(old[:, channels], new[:, channels], threshold)
    return rows, [[[array[p, c] for c in channels] for p in rows] for array in (old, new, support)]


# ---------------------------------------------------------------- kernels.channel_sums


def gather(source, row, weight):
    """Sum over e of weight[e] * source[row[e]]."""
    out = np.zeros(source.shape[1])
    for r, w in zip(row, weight, strict=True):
        out += w * source[r]
    return out


def scatter(value, row, weight, size):
    """A table (size, C) with weight[e] * value added to row[e]."""
    out = np.zeros((size, len(value)))
    for r, w in zip(row, weight, strict=True):
        out[r] += w * value
    return out


def blur_chains(values, order, links):
    """Every row plus links[e] times both neighbours in ``order``, all at once."""
    out = np.array(values, float)
    for e, link in enumerate(links):
        if link:
            out[order[e]] += link * values[order[e + 1]]
            out[order[e + 1]] += link * values[order[e]]
    return out


def correlate(source, start, stride, weight, size):
    """Sum over k of weight[k] * source[start + k * stride :][:size]."""
    return [sum(w * source[start + k * stride + j] for k, w in enumerate(weight)) for j in range(size)]


# ---------------------------------------------------------------- kernels.lattice


def elevate(features, scale):
    """Points (n, d) in the plane of vectors (n, d + 1) that sum to zero."""
    n, d = features.shape
    out = np.zeros((n, d + 1))
    for j in range(1, d + 1):
        out[:, j] -= j * features[:, j - 1] * scale[j - 1]
        out[:, :j] += (features[:, j - 1] * scale[j - 1])[:, None]
    return out


def number(keys):
    """Distinct keys by first appearance, and the number of each key."""
    found = {}
    numbers = [found.setdefault(key, len(found)) for key in keys.ravel().tolist()]
    return list(found), np.array(numbers).reshape(keys.shape)


def link(keys, step):
    """Pairs of numbers of keys that are a step apart."""
    return {(u, keys.index(key + step)) for u, key in enumerate(keys) if key + step in keys}


def linked(order, links):
    """The pairs that chains hold, and their weights."""
    return {(int(order[e]), int(order[e + 1])): float(w) for e, w in enumerate(links) if w}


def splat(values, vertex, weight, ratio, size):
    """Values (n, C) added to the vertices around them."""
    out = np.zeros((size, values.shape[1]))
    for p, r in itertools.product(*map(range, vertex.shape)):
        out[vertex[p, r]] += ratio[p] * weight[p, r] * values[p]
    return out


def interpolate(values, vertex, weight):
    """Values (n, C) of points from those of the vertices around them."""
    out = np.zeros((len(vertex), values.shape[1]))
    for p, r in itertools.product(*map(range, vertex.shape)):
        out[p] += weight[p, r] * values[vertex[p, r]]
    return out


# ---------------------------------------------------------------- kernels.coarse, kernels.separable


def down(values, row_above, row_weight, below, taps, coarse_rows):
    """An image on a coarse grid: sums by taps along columns, then by weights along rows; zeros beyond the edge."""
    rows, columns, channels = values.shape
    out = np.zeros((coarse_rows, len(below), channels))
    for y, i, r, c in itertools.product(
        range(rows), range(len(below)), *map(range, (row_weight.shape[1], taps.shape[1]))
    ):
        if 0 <= below[i] + c < columns:
            out[row_above[y] + r, i] += row_weight[y, r] * taps[i, c] * values[y, below[i] + c]
    return out


def up(values, row_above, row_weight, above, weights):
    """An image from a coarse grid: sums by weights along both axes."""
    out = np.zeros((len(row_above), len(above), values.shape[2]))
    for y, x, r, c in itertools.product(*map(range, (*out.shape[:2], row_weight.shape[1], weights.shape[1]))):
        out[y, x] += row_weight[y, r] * weights[x, c] * values[row_above[y] + r, above[x] + c]
    return out


def sum_both_axes(values, row_taps, taps):
    """Correlation of an image with the product of two windows; zeros beyond the edge."""
    out, (r, s) = np.zeros(values.shape), (len(row_taps) // 2, len(taps) // 2)
    for y, x, i, j in itertools.product(*map(range, (*values.shape[:2], len(row_taps), len(taps)))):
        if 0 <= y + i - r < values.shape[0] and 0 <= x + j - s < values.shape[1]:
            out[y, x] += row_taps[i] * taps[j] * values[y + i - r, x + j - s]
    return out


def filter_rows(values, taps):
    """Sum over k of taps[row, k] * values[row + k - r]; zeros beyond the edge."""
    out, r = np.zeros(values.shape), taps.shape[1] // 2
    for row, k in itertools.product(*map(range, taps.shape)):
        if 0 <= row + k - r < len(values):
            out[row] += taps[row, k] * values[row + k - r]
    return out


# ---------------------------------------------------------------- kernels.guided_argmax


def guided_argmax(coefficients, picture):
    """The most probable label of every pixel, with the linear models of `coefficients` (h, w, L - 1, C + 1)."""
    height, width = picture.shape[:2]
    labels = np.zeros((height, width), int)
    for y in range(height):
        for x in range(width):
            model = interpolated(interpolated(coefficients, y, height), x, width)
            values = model[:, :-1] @ picture[y, x] + model[:, -1]
            labels[y, x] = np.append(values, 1 - values.sum()).clip(0, 1).argmax()
    return labels


def interpolated(rows, k, count):
    """The row at the middle of pixel k of ``count`` that cover the same length."""
    at = min(max((k + 0.5) * len(rows) / count - 0.5, 0), len(rows) - 1)
    low = int(at)
    return rows[low] + (at - low) * (rows[min(low + 1, len(rows) - 1)] - rows[low])
