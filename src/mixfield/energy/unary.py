"""Unary costs: from probabilities, and in a range that single precision can hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.errors import InfeasibleError, MixfieldError
from mixfield.kernels.constants import FORBIDDEN as FORBIDDEN

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]

LARGE = 1e5  # costs from here on are taken relative to the least of their pixel


def bounded(costs: NDArray[np.floating], shape: tuple[int, ...]) -> tuple[NDArray[np.floating], Floats]:
    """Costs (n, L) with `FORBIDDEN` for +inf, large ones relative to the least of their pixel, and that least cost."""
    forbidden, least = np.isposinf(costs), np.zeros(1)
    if not np.isfinite(costs[~forbidden]).all():
        raise MixfieldError("unary must hold costs: numbers or +inf (forbidden), got NaN or -inf")
    empty = np.flatnonzero(forbidden.all(1))
    if len(empty):
        pixel = tuple(int(i) for i in np.unravel_index(empty[0], shape))
        raise InfeasibleError(f"unary forbids every label of pixel {pixel}; allow at least one")
    if np.abs(costs[~forbidden]).max() >= LARGE:  # only differences between the labels of a pixel matter
        least = costs.min(1).astype(np.float64)
        costs = np.minimum(costs - least[:, None], FORBIDDEN / 2)
    return np.where(forbidden, FORBIDDEN, costs), least


def log_costs(probs: ArrayLike, floor: float) -> Float32s:
    """Costs of probabilities (*shape, L)."""
    array = _arrays.as_numpy("probs", probs)
    if array.ndim < 2 or array.size == 0 or array.dtype.kind not in "buif":
        raise MixfieldError(f"probs must be an array (H, W, L) of numbers, got shape {array.shape} of {array.dtype}")
    array = array.astype(np.float32)
    if not np.isfinite(array).all() or (array < 0).any():
        raise MixfieldError(
            "probs must be probabilities: finite numbers not below 0; log-scores go in as costs, DenseCRF(-scores, ...)"
        )
    total = array.sum(-1, keepdims=True)
    if (total <= 0).any():
        pixel = tuple(int(i) for i in np.argwhere(total[..., 0] <= 0)[0])
        raise InfeasibleError(f"probs of pixel {pixel} are all zero; give at least one label a probability")
    array /= total
    np.maximum(array, np.float32(floor), out=array)
    np.log(array, out=array)
    return np.negative(array, out=array)
