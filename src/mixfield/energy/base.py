"""What an energy is: a few questions that it answers, and nothing about who asks."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mixfield.errors import MixfieldError

Floats = NDArray[np.float64]


class Energy(Protocol):
    """Anything with these five members is an energy; no base class is needed.

    Costs: lower is better, ``P(x) ~ exp(-E(x))``.  Labels are the last axis of every array.  An energy whose
    ``local_field`` and ``expected`` also take a leading axis of modes says so with an attribute ``batched = True``.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the field of variables."""

    @property
    def n_labels(self) -> int:
        """Number of labels (the largest, if variables differ)."""

    def local_field(self, q: Any, /) -> Any:
        """Expected cost of each label of each variable, the others following ``q`` (*shape, L)."""

    def expected(self, q: Any, /) -> Any:
        """Expected cost under the product distribution ``q``."""

    def of(self, x: Any, /) -> Any:
        """Cost of a labeling ``x`` (*shape)."""


def check(energy: object) -> None:
    """Complain about an object that is not an energy, naming what is missing."""
    missing = [name for name in ("shape", "n_labels", "local_field", "expected", "of") if not hasattr(energy, name)]
    if missing:
        raise MixfieldError(
            f"energy must provide shape, n_labels, local_field(q), expected(q) and of(x); "
            f"{type(energy).__name__} lacks {', '.join(missing)}"
        )


def n_variables(energy: Energy) -> int:
    """Number of variables."""
    return int(np.prod(energy.shape, dtype=np.int64))


def fields(energy: Energy, q: Floats) -> Floats:
    """``local_field`` of a batch: (K, n, L) to (K, n, L)."""
    full = q.reshape(len(q), *energy.shape, energy.n_labels)
    if getattr(energy, "batched", False):
        answer = np.asarray(energy.local_field(full), np.float64)
    else:
        answer = np.stack([np.asarray(energy.local_field(one), np.float64) for one in full])
    if answer.shape != full.shape:
        raise MixfieldError(f"local_field of {type(energy).__name__} must return {full.shape}, got {answer.shape}")
    if np.isnan(answer).any():
        raise MixfieldError(f"local_field of {type(energy).__name__} returned NaN")
    return answer.reshape(q.shape)


def expectations(energy: Energy, q: Floats) -> Floats:
    """``expected`` of a batch: (K, n, L) to (K,)."""
    full = q.reshape(len(q), *energy.shape, energy.n_labels)
    if getattr(energy, "batched", False):
        return np.asarray(energy.expected(full), np.float64)
    return np.array([float(energy.expected(one)) for one in full])


def allowed_labels(energy: Energy) -> NDArray[np.bool_]:
    """Labels each variable may take, (n, L): told by the energy, or read off its field at the uniform point."""
    told = getattr(energy, "allowed", None)
    n, n_labels = n_variables(energy), energy.n_labels
    if told is not None:
        allowed = np.array(told, dtype=bool).reshape(n, n_labels)
    else:
        allowed = np.isfinite(fields(energy, np.full((1, n, n_labels), 1.0 / n_labels))[0])
    empty = np.flatnonzero(~allowed.any(1))
    if len(empty):
        where = tuple(int(i) for i in np.unravel_index(empty[0], energy.shape)) if energy.shape else ()
        raise MixfieldError(f"energy forbids every label of variable {where}; allow at least one")
    return allowed
