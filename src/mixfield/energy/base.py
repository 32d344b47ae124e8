"""What an energy is: five questions that every energy answers, and abilities that some energies have."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mixfield.errors import MixfieldError

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Energy(Protocol):
    """Anything with these five members is an energy; no base class is needed.

    Costs: lower is better, ``P(x) ~ exp(-E(x))``.  Labels are the last axis of every array.  `Abilities` lists what an
    energy may offer beyond this; `mixfield.testing.check_energy` tests an energy of your own.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the field of variables."""

    @property
    def n_labels(self) -> int:
        """Number of labels (the largest, if variables differ)."""

    def local_field(self, q: Any, /) -> Any:
        """(*shape, L) expected cost of each label of each variable, the others following ``q`` (*shape, L)."""

    def expected(self, q: Any, /) -> Any:
        """Expected cost under the product distribution ``q`` (*shape, L)."""

    def of(self, x: Any, /) -> Any:
        """Cost of a labeling ``x`` (*shape)."""


class Abilities(Protocol):
    """What an energy may offer beyond the five questions of `Energy`: any subset of these, read by `ability`."""

    @property
    def batched(self) -> bool:
        """Whether ``local_field`` and ``expected`` also take a leading axis of modes, ``q`` (K, *shape, L)."""

    @property
    def allowed(self) -> Bools:
        """(n, L) labels that each variable may take.  Without it, those of finite cost at the uniform point."""

    @property
    def start(self) -> Floats:
        """(*shape, L) marginals at which a first mean field begins.  Without it, near the uniform point."""

    @property
    def critical_temperature(self) -> float:
        """T_max, above which the field has one mode.  Without it, by the largest eigenvalue of the Jacobian."""

    @property
    def coupling_strength(self) -> Floats:
        """(n,) sum of the couplings |W| of each variable; `criteria.MaxW` needs it."""

    @property
    def adjacency(self) -> Any:
        """(n, n) sparse matrix of neighbours.  With it, groups are split into connected parts."""

    @property
    def evidence(self) -> NDArray[np.floating]:
        """(n, L) probabilities of each variable by its own costs alone; criteria over regions need it."""

    @property
    def has_hard_factors(self) -> bool:
        """Whether some joint states are forbidden; then the search cools more slowly."""

    def in_reading_order(self) -> Energy:
        """The same energy, swept from the first to the last variable."""


def ability(energy: Energy, name: str, default: Any = None) -> Any:
    """An ability of an energy, or ``default`` where it does not offer it."""
    if name not in vars(Abilities):
        raise AttributeError(f"{name!r} is not one of the abilities of an energy")
    return getattr(energy, name, default)


def check(energy: object) -> None:
    """Raise an error for an object that is not an energy, naming what is missing."""
    missing = [name for name in ("shape", "n_labels", "local_field", "expected", "of") if not hasattr(energy, name)]
    if missing:
        raise MixfieldError(
            f"energy must provide shape, n_labels, local_field(q), expected(q) and of(x); "
            f"{type(energy).__name__} lacks {', '.join(missing)}"
        )


def n_variables(energy: Energy) -> int:
    """Number of variables."""
    return int(np.prod(energy.shape, dtype=np.int64))


def local_fields(energy: Energy, q: Floats) -> Floats:
    """``local_field`` of a batch: (K, n, L) to (K, n, L)."""
    full = q.reshape(len(q), *energy.shape, energy.n_labels)
    if ability(energy, "batched", False):
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
    if ability(energy, "batched", False):
        return np.asarray(energy.expected(full), np.float64)
    return np.array([float(energy.expected(one)) for one in full])


def allowed_labels(energy: Energy) -> Bools:
    """(n, L) labels each variable may take."""
    declared = ability(energy, "allowed")
    n, n_labels = n_variables(energy), energy.n_labels
    if declared is not None:
        allowed = np.array(declared, dtype=bool).reshape(n, n_labels)
    else:
        allowed = np.isfinite(local_fields(energy, np.full((1, n, n_labels), 1.0 / n_labels))[0])
    empty = np.flatnonzero(~allowed.any(1))
    if len(empty):
        where = tuple(int(i) for i in np.unravel_index(empty[0], energy.shape)) if energy.shape else ()
        raise MixfieldError(f"energy forbids every label of variable {where}; allow at least one")
    return allowed
