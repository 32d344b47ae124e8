"""Marginals in 16 bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixfield._levels import TOP, pack, unpack


def random_marginals(rng, shape, n_labels, modes=3, sharpness=4.0):
    logits = sharpness * rng.normal(size=(modes, *shape, n_labels))
    q = np.exp(logits - logits.max(-1, keepdims=True))
    return q / q.sum(-1, keepdims=True)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_labels=st.integers(1, 9), sharpness=st.sampled_from([0.0, 1e-6, 1.0, 30.0]))
def test_labels_stay_and_probabilities_are_close(seed, n_labels, sharpness):
    q = random_marginals(np.random.default_rng(seed), (4, 5), n_labels, sharpness=sharpness)
    labels, packed = pack(q)
    again = unpack(labels, packed, (4, 5), n_labels)
    np.testing.assert_array_equal(again.argmax(-1), q.argmax(-1))
    np.testing.assert_allclose(again.sum(-1), 1.0, atol=1e-12)
    assert np.abs(again - q).max() <= (1 + n_labels / 2) / TOP


def test_ties_keep_the_label_of_the_float():
    q = np.array([[[0.5 - 1e-9, 0.5 + 1e-9], [0.5, 0.5]]])
    np.testing.assert_array_equal(unpack(*pack(q), (2,), 2).argmax(-1), [[1, 0]])


def test_labels_that_do_not_occur_are_not_stored():
    q = np.zeros((2, 3, 100))
    q[..., 7], q[..., 42] = 0.25, 0.75
    labels, packed = pack(q)
    assert labels.tolist() == [7, 42]
    assert packed.shape == (2, 2, 2, 3)
    assert not packed[:, :, 1].any()  # equal to the first mode
    np.testing.assert_allclose(unpack(labels, packed, (3,), 100), q, atol=2e-5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a | {"packed": a["packed"].astype(np.uint16)}, "levels must be bytes"),
        (lambda a: a | {"packed": a["packed"][:1]}, "levels must be bytes"),
        (lambda a: a | {"labels": a["labels"][:1]}, "levels must be bytes"),
        (lambda a: a | {"shape": (7,)}, "do not fit the shape"),
        (lambda a: a | {"labels": a["labels"] * 0}, "do not fit the shape"),
        (lambda a: a | {"n_labels": 1}, r"must lie in 0\.\.0"),
        (lambda a: a | {"packed": a["packed"] * 0}, "every variable must have a label"),
    ],
)
def test_damage_is_a_value_error(change, message):
    labels, packed = pack(random_marginals(np.random.default_rng(0), (4,), 2))
    with pytest.raises(ValueError, match=message):
        unpack(**change({"labels": labels, "packed": packed, "shape": (4,), "n_labels": 2}))
