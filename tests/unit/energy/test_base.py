"""What an energy is, and what is said of objects that are none."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import BlackBox
from rooms import random_masks, random_room

import mixfield as mf
from mixfield.energy.base import Abilities, ability, allowed_labels, expectations, local_fields, n_variables
from mixfield.errors import MixfieldError


def test_what_is_not_an_energy_is_an_error():
    with pytest.raises(MixfieldError, match="object lacks shape, n_labels, local_field, expected, of"):
        mf.mean_field(object())

    class Half:
        shape, n_labels = (2,), 2

        def local_field(self, q):
            return q

    with pytest.raises(MixfieldError, match="Half lacks expected, of"):
        mf.infer(Half())


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (lambda q: q[..., :1], "local_field of Bad must return"),
        (lambda q: q * np.nan, "local_field of Bad returned NaN"),
    ],
)
def test_a_black_box_that_answers_nonsense(answer, sentence):
    class Bad:
        shape, n_labels = (2,), 2

        def local_field(self, q):
            return answer(q)

        def expected(self, q):
            return float(q.sum())

        def of(self, x):
            return float(np.sum(x))

    with pytest.raises(MixfieldError, match=sentence):
        mf.mean_field(Bad())


class Plain:
    """An energy without any ability: two labels that cost nothing."""

    shape, n_labels = (2, 3), 2

    def local_field(self, q):
        assert q.shape == (2, 3, 2)
        return np.zeros(q.shape)

    def expected(self, q):
        assert q.shape == (2, 3, 2)
        return 0.0

    def of(self, x):
        return 0.0 * np.sum(x)


DECLARED = {name for name in vars(Abilities) if not name.startswith("_")}


def test_abilities_have_defaults():
    energy = Plain()
    for name in DECLARED:
        assert ability(energy, name) is None
        assert ability(energy, name, "default") == "default"
    energy.batched = True
    assert ability(energy, "batched", False) is True


@pytest.mark.parametrize("name", ["kept", "batch", "threads", "shape", "local_field"])
def test_abilities_that_are_not_declared_are_an_error(name):
    energy = Plain()
    energy.kept = energy.batch = energy.threads = True
    with pytest.raises(AttributeError, match=f"'{name}' is not one of the abilities of an energy"):
        ability(energy, name)


def test_every_ability_is_documented_and_offered_by_an_energy_of_ours():
    room = random_room(np.random.default_rng(0))
    masks = random_masks(np.random.default_rng(1), room)
    ours = (
        mf.datasets.random_ising(3),
        mf.DenseCRF(np.zeros((3, 4, 2)), [mf.Gaussian(1.0)]),
        mf.Occupancy(room, masks),
    )
    for name in DECLARED:
        assert vars(Abilities)[name].__doc__
        assert any(ability(energy, name) is not None for energy in ours), name


def test_a_batch_goes_whole_to_energies_that_take_it(two_wells):
    rng = np.random.default_rng(0)
    q = rng.dirichlet(np.ones(2), (3, 9))
    seen = []

    class Batched(BlackBox):
        batched = True

        def local_field(self, q):
            seen.append(q.shape)
            return np.stack([self._graph.local_field(one) for one in q])

        def expected(self, q):
            seen.append(q.shape)
            return np.stack([self._graph.expected(one) for one in q])

    whole, single = Batched(two_wells), BlackBox(two_wells)
    np.testing.assert_array_equal(local_fields(whole, q), local_fields(single, q))
    np.testing.assert_array_equal(expectations(whole, q), expectations(single, q))
    assert seen == [(3, 3, 3, 2)] * 2
    assert local_fields(single, q).shape == (3, 9, 2)
    assert expectations(single, q).shape == (3,)


def test_allowed_labels_are_declared_or_those_of_finite_cost():
    class Half(Plain):
        def local_field(self, q):
            return np.where(np.arange(2) == 1, np.inf, np.zeros(q.shape))

    assert allowed_labels(Plain()).all()
    assert allowed_labels(Half()).tolist() == [[True, False]] * 6
    declared = Plain()
    declared.allowed = np.array([[True, False]] * 3 + [[False, True]] * 3)
    assert np.array_equal(allowed_labels(declared), declared.allowed)
    assert n_variables(declared) == 6
    declared.allowed = np.array([[True, True]] * 5 + [[False, False]])
    with pytest.raises(MixfieldError, match=r"forbids every label of variable \(1, 2\); allow at least one"):
        allowed_labels(declared)
