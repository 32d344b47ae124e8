"""A few labelings that stand for many: those with the largest expected agreement with the one that is right."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def representatives(labelings: Ints, weights: Floats, sizes: Floats, count: int) -> tuple[Ints, Floats]:
    """Choose labelings greedily by expected agreement, and give each the weight of those that it stands for.

    With probabilities w_j that labeling j is right and the mean IoU of two labelings, each step adds the labeling that
    raises ``sum_j w_j max_(k chosen) IoU(k, j)`` most.

    Parameters
    ----------
    labelings : (K, n) labels.
    weights : (K,) probabilities.
    sizes : (n,) pixels of each variable.
    count : how many, at most.

    Returns
    -------
    Chosen labelings, (k,) numbers, heaviest first, and their weights (k,).
    """
    agreement = mean_ious(labelings, sizes)
    covered = np.zeros(len(weights))
    chosen: list[int] = []
    for _ in range(min(count, len(weights))):
        gains = np.maximum(agreement, covered) @ weights
        gains[chosen] = -np.inf
        chosen.append(int(gains.argmax()))
        covered = np.maximum(covered, agreement[chosen[-1]])
    nearest = agreement[chosen].argmax(0)
    pooled = np.bincount(nearest, weights, len(chosen))
    order = np.argsort(-pooled, kind="stable")
    return np.array(chosen)[order], pooled[order] / pooled.sum()


def mean_ious(labelings: Ints, sizes: Floats) -> Floats:
    """(K, K) IoU of each two labelings (K, n), mean over the labels that either has."""
    total, present = np.zeros((len(labelings), len(labelings))), np.zeros((len(labelings), len(labelings)))
    for label in np.unique(labelings):
        has = (labelings == label).astype(np.float64)
        common, areas = (has * sizes) @ has.T, has @ sizes
        union = areas[:, None] + areas - common
        total += np.where(union > 0, common / np.maximum(union, 1e-9), 0.0)
        present += union > 0
    return np.asarray(total / np.maximum(present, 1))
