"""A kernel with its filter built for a field, and its label compatibility."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays, _threads
from mixfield.energy.gaussian import Kernel
from mixfield.errors import MixfieldError
from mixfield.filters import normalization
from mixfield.filters.all_pairs import AllPairs
from mixfield.filters.base import Filter

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Coupling:
    """A filter and the costs of pairs of labels.

    Attributes
    ----------
    filter : of the kernel, with the weight as its strength if the kernel is Potts.
    compatibility : (L, L) costs, or None for a Potts kernel.
    strength : the weight, or the largest eigenvalue of minus the costs.
    normalized : whether the kernel is normalised, such that its own largest eigenvalue is one.
    symmetric : whether the kernel matrix is symmetric.
    attractive : whether unequal labels are never favoured; then the plain update cannot raise the free energy.
    """

    filter: Filter
    compatibility: NDArray[Any] | None
    strength: float
    normalized: bool
    symmetric: bool
    attractive: bool

    @cached_property
    def row_sums(self) -> tuple[Float32s, Float32s]:
        """(n,) row sums of the filter, and those of its rough version."""
        return self.filter.row_sums(_threads.available())

    def restricted(self, labels: NDArray[np.int64]) -> Coupling:
        """The same for some of the labels."""
        if self.compatibility is None:
            return self
        return replace(self, compatibility=np.ascontiguousarray(self.compatibility[np.ix_(labels, labels)]))


def couple(
    kernel: Kernel, shape: tuple[int, ...], n_labels: int, *, potts: bool, symmetric: bool, exact: bool = False
) -> Coupling:
    """Build the filter of a kernel; ``symmetric`` asks for an exactly symmetric one, ``exact`` for one of all pairs."""
    normalization.check(kernel.normalization)
    weight = _finite("weight", kernel.weight)
    normalized, balanced = kernel.normalization != "none", kernel.normalization in ("none", "symmetric")
    if potts:
        built = _filter(kernel, shape, float(weight), symmetric=symmetric, exact=exact)
        return Coupling(built, None, float(weight), normalized, balanced, bool(weight >= 0))
    costs = _compatibility(kernel, weight, n_labels)
    built = _filter(kernel, shape, 1.0, symmetric=symmetric, exact=exact)
    centred = np.eye(n_labels) - 1.0 / n_labels
    attraction = np.linalg.eigvalsh(-centred @ costs @ centred)
    strength = max(0.0, float(attraction[-1]))
    kept = costs if exact else costs.astype(np.float32)
    return Coupling(built, kept, strength, normalized, balanced, bool(attraction[0] > -1e-6))


def _filter(kernel: Kernel, shape: tuple[int, ...], strength: float, *, symmetric: bool, exact: bool) -> Filter:
    if exact:
        return AllPairs(kernel.features(shape, np.float64), strength=strength, normalization=kernel.normalization)
    return kernel.filter(shape, strength, symmetric=symmetric)


def _compatibility(kernel: Kernel, weight: Floats, n_labels: int) -> Floats:
    """Costs (L, L) of pairs of labels."""
    if weight.shape not in ((), (n_labels,)):
        raise MixfieldError(f"weight must be one number or one per label ({n_labels}), got shape {weight.shape}")
    if kernel.compatibility is None:
        return -np.diag(np.broadcast_to(weight, n_labels))
    costs = _finite("compatibility", kernel.compatibility)
    _arrays.check_shape("compatibility", costs, (n_labels, n_labels), "= (L, L) to match the unary")
    if weight.ndim:
        raise MixfieldError("weight must be one number where compatibility is given, got one per label")
    return np.asarray(weight * (costs + costs.T) / 2)  # each pair is counted in both orders


def _finite(name: str, value: ArrayLike) -> Floats:
    array = _arrays.floats(name, value, largest=_arrays.LARGE)
    if not np.isfinite(array).all():
        raise MixfieldError(f"{name} must hold finite numbers, got {array[~np.isfinite(array)][0]}")
    return array
