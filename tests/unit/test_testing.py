"""`mixfield.testing.check_energy` accepts valid energies and says what is wrong with others."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.errors import MixfieldError
from mixfield.testing import check_energy


class Agreement:
    """Ten binary variables: minus the square of the share of ones."""

    shape, n_labels = (10,), 2

    def of(self, x):
        return -float(np.mean(x) ** 2)

    def expected(self, q):
        p = q[..., 1]
        return -float(p.mean() ** 2 + (p * (1 - p)).sum() / 100)

    def local_field(self, q):
        p = q[:, 1]
        slope = -(2 * (p.sum() - p) + 1) / 100
        return np.stack([np.zeros(10), slope], -1)


class WrongSign(Agreement):
    def local_field(self, q):
        return -super().local_field(q)


class WrongFactor(Agreement):
    def local_field(self, q):
        return 2 * super().local_field(q)


class WrongLabeling(Agreement):
    def of(self, x):
        return super().of(x) + 1


class WrongShape(Agreement):
    allowed = np.ones((10, 2), bool)

    def local_field(self, q):
        return super().local_field(q)[:, :1]


class NotANumber(Agreement):
    allowed = np.ones((10, 2), bool)

    def expected(self, q):  # noqa: ARG002
        return float("nan")


class ChangesItsArgument(Agreement):
    allowed = np.ones((10, 2), bool)

    def expected(self, q):
        answer = super().expected(q)
        q *= 0.5
        return answer


class NotReallyBatched(Agreement):
    batched = True
    allowed = np.ones((10, 2), bool)

    def local_field(self, q):
        if q.ndim == 2:
            return super().local_field(q)
        return np.repeat(super().local_field(q[0])[None], len(q), 0)

    def expected(self, q):
        return super().expected(q) if q.ndim == 2 else np.full(len(q), super().expected(q[0]))


class WrongAbility(Agreement):
    coupling_strength = np.ones(3)


class NoLabels(Agreement):
    n_labels = 0


def valid_energies():
    rng = np.random.default_rng(0)
    yield mf.FactorGraph.ising([0.1, 0.0, -0.2], [(0, 1), (1, 2)], 2.0)
    tables = [((0, 1), rng.random((2, 2))), ((1, 2), np.array([[0, np.inf, 1], [1, 2, 3.0]]))]
    yield mf.FactorGraph.from_factors((2, 2, 3), tables)
    yield mf.DenseCRF(rng.random((6, 8, 3)), [mf.Gaussian(2, 3)])
    walk = mf.datasets.walking_people(2, 1, 1)
    yield mf.Occupancy(walk.scene, walk.masks[0])
    yield Agreement()


@pytest.mark.parametrize("energy", list(valid_energies()), ids=lambda energy: type(energy).__name__)
def test_valid_energies_pass(energy):
    check_energy(energy)


@pytest.mark.parametrize(
    ("energy", "reason"),
    [
        (WrongSign(), "sign is reversed"),
        (WrongFactor(), "must be the derivative of expected"),
        (WrongLabeling(), "one-hot"),
        (WrongShape(), "shape of q"),
        (NotANumber(), "is NaN"),
        (ChangesItsArgument(), "changes its argument"),
        (NotReallyBatched(), "mode 1 of a batch"),
        (WrongAbility(), r"coupling_strength must have shape \(10,\)"),
        (NoLabels(), "n_labels must be a positive integer"),
        (object(), "lacks"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_wrong_is_said(energy, reason):
    with pytest.raises(MixfieldError, match=reason):
        check_energy(energy)


def test_a_seed_gives_the_same_trials():
    for _ in range(2):
        with pytest.raises(MixfieldError, match=r"variable \(\d,\)") as first:
            check_energy(WrongSign(), rng=3)
        with pytest.raises(MixfieldError) as second:
            check_energy(WrongSign(), rng=3)
        assert str(first.value) == str(second.value)
