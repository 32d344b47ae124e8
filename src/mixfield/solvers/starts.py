"""Where a mean field may begin."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def one_hot(labeling: NDArray[np.integer[Any]], n_labels: int) -> Floats:
    """Labelings (..., n) as marginals (..., n, L)."""
    return (labeling[..., None] == np.arange(n_labels)).astype(np.float64)


def labels(allowed: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64]:
    """A uniform choice among the allowed labels of each variable, (..., n, L) to (..., n)."""
    return np.where(allowed, rng.random(allowed.shape), -1.0).argmax(-1)


def random(allowed: NDArray[np.bool_], rng: np.random.Generator) -> Floats:
    """Marginals drawn uniformly from the simplex of the allowed labels."""
    weights = np.where(allowed, rng.standard_exponential(allowed.shape), 0.0)
    return np.asarray(weights / weights.sum(-1, keepdims=True))


def central(allowed: NDArray[np.bool_], rng: np.random.Generator) -> Floats:
    """Nearly uniform marginals; the small noise breaks ties."""
    weights = np.where(allowed, 1.0 + 1e-3 * rng.random(allowed.shape), 0.0)
    return np.asarray(weights / weights.sum(-1, keepdims=True))
