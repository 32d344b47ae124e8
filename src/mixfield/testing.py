"""Tests for energies of your own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.energy.base import ability, allowed_labels, check, n_variables
from mixfield.errors import MixfieldError

Floats = NDArray[np.float64]

TRIALS = 5  # random product distributions and labelings
TOLERANCE = 1e-4  # relative; differences of costs in single precision are not more accurate
STEP = 1e-3  # of finite differences, in probability


def check_energy(energy: Any, *, rng: int | np.random.Generator = 0) -> None:
    """Try to break an energy; raise an error that says what is wrong.

    Parameters
    ----------
    energy : an object that is meant to be an energy, see `mixfield.energy.Energy`.
    rng : seed or generator of the trials.

    Notes
    -----
    The checks: the five members are there; shapes and types; no NaN; ``expected`` of a one-hot ``q`` is ``of`` that
    labeling; differences of ``local_field`` between labels are those of ``expected`` along directions that keep ``q``
    a distribution (``local_field`` is its derivative); a batched energy gives for each mode what it gives for the mode
    alone; the arguments are left as they were; optional abilities have the shapes that `Abilities` documents.

    Examples
    --------
    >>> import mixfield as mf
    >>> mf.testing.check_energy(mf.FactorGraph.ising([0.1, 0.0], [(0, 1)], 2.0))
    """
    check(energy)
    trial = _Trial(energy, _arrays.generator(rng))
    trial.check_members()
    for _ in range(TRIALS):
        q = trial.random_marginals()
        trial.check_shapes(q)
        trial.check_arguments_unchanged(q)
        trial.check_derivative(q)
        trial.check_labelings()
    trial.check_batch()
    trial.check_abilities()


class _Trial:
    """One energy, and what is asked of it."""

    def __init__(self, energy: Any, rng: np.random.Generator) -> None:
        self.energy, self.rng, self.name = energy, rng, type(energy).__name__

    def check_members(self) -> None:
        shape, n_labels = self.energy.shape, self.energy.n_labels
        if not isinstance(shape, tuple) or not all(isinstance(s, (int, np.integer)) and s > 0 for s in shape):
            self._fail(f"shape must be a tuple of positive integers, got {shape!r}")
        if not isinstance(n_labels, (int, np.integer)) or n_labels < 1:
            self._fail(f"n_labels must be a positive integer, got {n_labels!r}")
        self.allowed = allowed_labels(self.energy)

    def random_marginals(self) -> Floats:
        """(*shape, L) a product distribution in the interior of the allowed labels."""
        weights = np.where(self.allowed, 0.2 + self.rng.random(self.allowed.shape), 0.0)
        q = weights / weights.sum(-1, keepdims=True)
        return np.asarray(q.reshape(*self.energy.shape, self.energy.n_labels))

    def field(self, q: Floats) -> Floats:
        return np.asarray(self.energy.local_field(q), np.float64)

    def check_shapes(self, q: Floats) -> None:
        field, expected = self.field(q), np.asarray(self.energy.expected(q), np.float64)
        if field.shape != q.shape:
            self._fail(f"local_field(q) must have the shape of q, {q.shape}, got {field.shape}")
        if expected.shape != ():
            self._fail(f"expected(q) must be one number, got shape {expected.shape}")
        for name, value in (("local_field", field[self._allowed_entries(q)]), ("expected", expected)):
            if np.isnan(value).any():
                self._fail(f"{name}(q) is NaN for a q inside the simplex")

    def check_arguments_unchanged(self, q: Floats) -> None:
        before = q.copy()
        self.energy.local_field(q)
        self.energy.expected(q)
        if not np.array_equal(before, q):
            self._fail("local_field(q) or expected(q) changes its argument; work on a copy")

    def check_derivative(self, q: Floats) -> None:
        """``expected(q + h d) - expected(q - h d)`` against ``2 h <local_field(q), d>`` for one variable at a time."""
        flat = q.reshape(-1, self.energy.n_labels)
        free = np.flatnonzero(self.allowed.sum(1) > 1)
        if len(free) == 0:
            return
        variable = int(self.rng.choice(free))
        first, second = self.rng.permutation(np.flatnonzero(self.allowed[variable]))[:2]
        slopes = []
        for step in (STEP, -STEP):
            moved = flat.copy()
            moved[variable, [first, second]] += [step, -step]
            slopes.append(float(self.energy.expected(moved.reshape(q.shape))))
        if not np.isfinite(slopes).all():  # forbidden joint states have an infinite expected cost
            return
        measured = (slopes[0] - slopes[1]) / (2 * STEP)
        field = self.field(q).reshape(flat.shape)
        by_field = float(field[variable, first] - field[variable, second])
        scale = max(1.0, abs(measured), abs(by_field), 1e-2 * abs(slopes[0]))
        if abs(measured - by_field) > TOLERANCE * scale + 1e-9 * abs(slopes[0]) / STEP:
            sign = " (the sign is reversed)" if abs(measured + by_field) < 0.1 * abs(measured - by_field) else ""
            where = tuple(int(i) for i in np.unravel_index(variable, self.energy.shape))
            self._fail(
                f"local_field must be the derivative of expected: at variable {where}, label {first} costs "
                f"{by_field:.6g} more than label {second} by local_field, and {measured:.6g} more by differences of "
                f"expected{sign}"
            )

    def check_labelings(self) -> None:
        labels = np.where(self.allowed, self.rng.random(self.allowed.shape), -1.0).argmax(1)
        x = labels.reshape(self.energy.shape)
        one_hot = np.eye(self.energy.n_labels)[labels].reshape(*self.energy.shape, -1)
        cost, expected = float(self.energy.of(x)), float(self.energy.expected(one_hot))
        if np.isnan(cost):
            self._fail("of(x) is NaN for a labeling of allowed labels")
        if not (cost == expected or abs(cost - expected) <= TOLERANCE * max(1.0, abs(cost))):
            self._fail(f"expected of a one-hot q must be of(x) of its labels, got {expected:.6g} and {cost:.6g}")

    def check_batch(self) -> None:
        if not ability(self.energy, "batched", False):
            return
        modes = np.stack([self.random_marginals() for _ in range(3)])
        fields, expected = self.field(modes), np.asarray(self.energy.expected(modes), np.float64)
        if fields.shape != modes.shape or expected.shape != (3,):
            self._fail(
                f"batched is True: local_field and expected of q {modes.shape} must have shapes {modes.shape} and "
                f"(3,), got {fields.shape} and {expected.shape}"
            )
        for k, mode in enumerate(modes):
            same_field = np.allclose(fields[k], self.field(mode), rtol=TOLERANCE, atol=TOLERANCE)
            if not same_field or not np.isclose(
                expected[k], self.energy.expected(mode), rtol=TOLERANCE, atol=TOLERANCE
            ):
                self._fail(f"batched is True, but mode {k} of a batch gets another answer than alone")

    def check_abilities(self) -> None:
        n, n_labels, shape = n_variables(self.energy), self.energy.n_labels, self.energy.shape
        wanted = {
            "start": (*shape, n_labels),
            "critical_temperature": (),
            "coupling_strength": (n,),
            "adjacency": (n, n),
            "evidence": (n, n_labels),
        }
        for name, expected in wanted.items():
            value = ability(self.energy, name)
            if value is not None and np.shape(value) != expected and getattr(value, "shape", None) != expected:
                self._fail(f"{name} must have shape {expected}, got {np.shape(value)}")

    def _allowed_entries(self, q: Floats) -> NDArray[np.bool_]:
        return self.allowed.reshape(q.shape)

    def _fail(self, reason: str) -> None:
        raise MixfieldError(f"{self.name} is not a valid energy: {reason}")
