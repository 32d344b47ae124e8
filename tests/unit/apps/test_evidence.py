"""Scores as arrays: layouts, resolutions, unknown labels, and errors."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield._pictures import resize_bilinear
from mixfield.apps.evidence import from_labels, probabilities
from mixfield.errors import InfeasibleError, MixfieldError

PROBS = np.random.default_rng(0).dirichlet(np.ones(3), (6, 9)).astype(np.float32)


def test_labels_first_is_understood_where_labels_last_does_not_fit():
    first = np.moveaxis(PROBS, -1, 0)
    np.testing.assert_array_equal(probabilities(first, (6, 9)), PROBS)
    np.testing.assert_array_equal(probabilities(first, (12, 18)), probabilities(PROBS, (12, 18)))
    cube = np.random.default_rng(1).dirichlet(np.ones(4), (4, 4))
    np.testing.assert_array_equal(probabilities(cube, (4, 4)), cube.astype(np.float32))


def test_logits_are_interpolated_before_the_softmax():
    logits = np.log(PROBS[:3, :3])
    probs = probabilities(logits, (5, 5), logits=True)
    expected = np.exp(resize_bilinear(logits, (5, 5)))
    np.testing.assert_allclose(probs / probs.sum(-1, keepdims=True), expected / expected.sum(-1, keepdims=True), 1e-5)
    one = probabilities(np.array([[2.0]]), (1, 1), logits=True)
    assert one[0, 0, 1] / one.sum() == pytest.approx(1 / (1 + np.exp(-2)))


def test_probabilities_sum_to_one():
    assert probabilities(PROBS, (6, 9)) is PROBS
    nearly = PROBS * np.float32(1 + 5e-6)
    assert probabilities(nearly, (6, 9)) is nearly
    for given in (0.01 * PROBS, PROBS * np.arange(1.0, 7)[:, None, None], PROBS * np.float32(3e38)):
        found = probabilities(given, (6, 9))
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, PROBS, rtol=1e-6)
    np.testing.assert_allclose(probabilities(PROBS.astype(np.float16), (6, 9)).sum(-1), 1, atol=1e-5)
    np.testing.assert_allclose(probabilities(np.log(PROBS), (6, 9), logits=True), PROBS, rtol=1e-4)
    np.testing.assert_allclose(probabilities(np.zeros((2, 3), int), (2, 3)), 1)


def test_a_pixel_is_divided_by_its_own_sum_alone():
    """So that blocks of a large image are those of the whole."""
    mixed = np.concatenate([PROBS[:3], 7 * PROBS[3:]])
    np.testing.assert_array_equal(probabilities(mixed, (6, 9))[:3], PROBS[:3])


def test_foreground_probability():
    np.testing.assert_allclose(probabilities(np.array([[0.2, 1.0]]), (1, 2)), [[[0.8, 0.2], [0, 1]]], atol=1e-7)


def test_label_maps_with_unknowns():
    probs = from_labels([[0, 2, -1, 255]], certainty=0.8)
    np.testing.assert_allclose(probs[0], [[0.8, 0.1, 0.1], [0.1, 0.1, 0.8], [1 / 3] * 3, [1 / 3] * 3], rtol=1e-6)
    assert from_labels([[0, 1]], n_labels=5).shape == (1, 2, 5)
    np.testing.assert_allclose(from_labels([[0, 1]], unknown=(0,))[0, 0], 0.5)
    np.testing.assert_array_equal(from_labels([[True, False]], certainty=1.0), [[[0, 1], [1, 0]]])
    np.testing.assert_array_equal(from_labels([[0, 255]], certainty=1.0), [[[1], [1]]])
    assert probabilities(np.zeros((2, 3), int), (4, 6)).shape == (4, 6, 1)


def spoilt(index, value):
    array = PROBS.copy()
    array[index] = value
    return array


@pytest.mark.parametrize(
    ("scores", "sentence"),
    [
        (np.swapaxes(PROBS, 0, 1), "width and height are swapped"),
        (np.transpose(PROBS), "look like .L, W, H."),
        (np.zeros((9, 6), int), "width and height are swapped"),
        (np.ones((6, 20, 3)), "resize or crop"),
        (spoilt((1, 2, 0), np.nan), r"NaN, got one at index \(1, 2, 0\)"),
        (spoilt((1, 2, 0), np.inf), "finite"),
        (spoilt((1, 2, 0), -0.1), "--logits"),
        (np.array(["a"]), "of probabilities"),
        (np.zeros((0, 3, 2)), "of probabilities"),
        (np.zeros(4), "of probabilities"),
        (np.full((6, 9), 3.0), "convert a label map to integers"),
        (np.full((6, 9), 255), "only unknown"),
        (np.full((6, 9), -7), "labels not below 0 or unknown .*, got -7"),
    ],
)
def test_wrong_scores_are_one_sentence(scores, sentence):
    with pytest.raises(MixfieldError, match=sentence) as caught:
        probabilities(scores, (6, 9))
    assert "scores" in str(caught.value)


def test_empty_pixels_are_named():
    with pytest.raises(InfeasibleError, match=r"pixel \(3, 4\) are all zero"):
        probabilities(spoilt((3, 4), 0.0), (6, 9))
    with pytest.raises(InfeasibleError, match=r"pixel \(3, 4\)"):
        probabilities(spoilt((3, 4), -np.inf), (6, 9), logits=True)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"certainty": 1.2}, "certainty"),
        ({"certainty": 0.1}, "certainty"),
        ({"n_labels": 2}, "labels 0..1"),
        ({"logits": True}, "label map"),
    ],
)
def test_wrong_options_of_label_maps(options, sentence):
    with pytest.raises(MixfieldError, match=sentence):
        probabilities(np.array([[0, 2]]), (1, 2), **options)
