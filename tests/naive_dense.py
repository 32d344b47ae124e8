"""The slow, obvious twin of the dense engine: every pair of pixels, in float64.

A field is a unary (n, L) and a list of couplings ``(kernel matrix (n, n), costs of pairs of labels (L, L))``.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

import mixfield as mf


def positions(shape):
    """(n, axes) coordinates of every pixel in C order."""
    return np.array(list(itertools.product(*(range(size) for size in shape))), float).reshape(-1, len(shape))


def features(kernel, shape):
    """(n, d) features of a kernel, divided by their bandwidths."""
    n = math.prod(shape)
    if isinstance(kernel, mf.Features):
        return np.asarray(kernel.array, float).reshape(n, -1)
    where = positions(shape) / np.broadcast_to(kernel.sxy, len(shape))
    if isinstance(kernel, mf.Gaussian):
        return where
    return np.concatenate([where, np.asarray(kernel.image, float).reshape(n, -1) / kernel.srgb], 1)


def gaussian(points):
    """(n, n) exp(-|f_i - f_j|^2 / 2)."""
    return np.array([[math.exp(-0.5 * float(((a - b) ** 2).sum())) for b in points] for a in points])


def normalized(matrix, way):
    """The four ways to normalise a kernel, by its row sums."""
    sums = matrix.sum(1)
    if way == "symmetric":
        return matrix / np.sqrt(np.outer(sums, sums))
    if way == "before":
        return matrix / sums[None, :]
    if way == "after":
        return matrix / sums[:, None]
    return matrix


def kernel_matrix(kernel, shape):
    """(n, n) the kernel of a field, normalised, without its weight."""
    return normalized(gaussian(features(kernel, shape)), kernel.normalization)


def label_costs(kernel, n_labels):
    """(L, L) costs of pairs of labels, the weight included."""
    weight = np.asarray(kernel.weight, float)
    if kernel.compatibility is None:
        return -np.diag(np.broadcast_to(weight, n_labels))
    costs = np.asarray(kernel.compatibility, float)
    return weight * (costs + costs.T) / 2


def couplings(kernels, shape, n_labels):
    return [(kernel_matrix(kernel, shape), label_costs(kernel, n_labels)) for kernel in kernels]


def local_field(unary, pairs, q):
    """(n, L) expected cost of each label, the pixel itself included."""
    return unary + sum((matrix @ q @ costs for matrix, costs in pairs), np.zeros_like(unary))


def expected(unary, pairs, q):
    """The quadratic form: each pair is counted twice and halved, i = j included."""
    pairwise = sum(float((q * (matrix @ q @ costs)).sum()) for matrix, costs in pairs)
    return float(np.where(q > 0, q * np.where(q > 0, unary, 0.0), 0.0).sum()) + 0.5 * pairwise


def cost(unary, pairs, x):
    """Cost of one labeling (n,)."""
    total = sum(unary[i, label] for i, label in enumerate(x))
    for matrix, costs in pairs:
        total += 0.5 * sum(matrix[i, j] * costs[x[i], x[j]] for i in range(len(x)) for j in range(len(x)))
    return total


def self_interaction(pairs, q):
    """What the quadratic form has beyond the expectation of the cost: a pixel disagreeing with itself."""
    total = 0.0
    for matrix, costs in pairs:
        for i, row in enumerate(q):
            total += 0.5 * matrix[i, i] * float(row @ costs @ row - row @ np.diag(costs))
    return total


def softmax(logits):
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def entropy(q):
    return -sum(p * math.log(p) for p in np.asarray(q, float).ravel() if p > 0)


def free_energy(unary, pairs, q, temperature=1.0):
    return expected(unary, pairs, q) - temperature * entropy(q)


def update(unary, pairs, q, temperature=1.0):
    """One parallel mean-field update."""
    return softmax(-local_field(unary, pairs, q) / temperature)


def mean_field(unary, pairs, iterations, temperature=1.0):
    """Parallel updates from the softmax of the unary costs."""
    q = softmax(-unary / temperature)
    for _ in range(iterations):
        q = update(unary, pairs, q, temperature)
    return q


def separable(values, shape, sigmas):
    """Gaussian sums of values (n, C) on a grid, axis after axis, with all of the tails."""
    out = np.asarray(values, float).reshape(*shape, -1)
    for axis, (size, sigma) in enumerate(zip(shape, sigmas, strict=True)):
        bell = np.array([[math.exp(-0.5 * ((a - b) / sigma) ** 2) for b in range(size)] for a in range(size)])
        out = np.moveaxis(np.tensordot(bell, out, (1, axis)), 0, axis)
    return out.reshape(-1, out.shape[-1])


def log_z(crf):
    """log Z of a tiny field by enumeration of its labelings."""
    n = math.prod(crf.shape)
    every = np.array(list(itertools.product(range(crf.n_labels), repeat=n))).reshape(-1, *crf.shape)
    costs = np.asarray(crf.of(every))
    least = costs.min()
    return float(np.log(np.exp(least - costs).sum()) - least)
