"""A few labelings that stand for many: those with the largest expected agreement with the one that is right."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def representatives(agreement: Floats, weights: Floats, first: int, count: int) -> tuple[Ints, Floats]:
    """Add labelings to a first one greedily by expected agreement, and give each the weight of those it stands for.

    With probabilities w_j that labeling j is right, each step adds the labeling k that raises
    ``sum_j w_j max_(k chosen) IoU(k, j)`` most.

    Parameters
    ----------
    agreement : (K, K) IoU of each two labelings, see `mean_ious`.
    weights : (K,) probabilities.
    first : number of the labeling that is chosen in any case.
    count : how many, at most.

    Returns
    -------
    Chosen labelings, (k,) numbers, heaviest first, and their weights (k,).
    """
    chosen, covered = [first], agreement[first]
    for _ in range(1, min(count, len(weights))):
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
