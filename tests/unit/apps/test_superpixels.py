"""Potts models over superpixels."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.apps import as_pixels, superpixel_energy
from mixfield.interactive.region_graph import adjacent

#  four columns of superpixels, three pixels wide: dark dark | bright bright
IMAGE = np.repeat([[20] * 6 + [200] * 6], 4, 0).astype(np.uint8)
WHERE = np.repeat([np.arange(12) // 3], 4, 0)
SCRIBBLES = np.full((4, 12), -1)
SCRIBBLES[1, 0], SCRIBBLES[1, 11] = 0, 1


def test_neighbours_and_their_borders():
    edges, lengths = adjacent(np.array([[0, 0, 1], [2, 2, 1]]))
    assert edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert lengths.tolist() == [1, 2, 1]


def test_costs_are_those_of_the_formula():
    energy = superpixel_energy(IMAGE, SCRIBBLES, WHERE, coupling=2.0, contrast=90.0, certainty=0.9)
    fall = np.exp(-0.5 * (180 / 90) ** 2)
    odds = np.log(9)
    base = energy.of(np.array([0, 0, 1, 1]))
    for labels, change in [
        ((0, 0, 0, 1), 2 - 2 * fall),
        ((0, 0, 0, 0), -2 * fall + odds),
        ((0, 1, 1, 1), 2 - 2 * fall),
    ]:
        assert energy.of(np.array(labels)) - base == pytest.approx(change, abs=1e-5)


def test_superpixels_without_a_scribble_cost_nothing():
    energy = superpixel_energy(IMAGE, SCRIBBLES, WHERE)
    np.testing.assert_array_equal(energy.unary.reshape(4, 2)[1:3], 0.0)


def test_probabilities_are_averaged():
    probs = np.random.default_rng(0).uniform(0.1, 0.9, (4, 12))
    energy = superpixel_energy(IMAGE, probs, WHERE)
    costs = -np.log(np.stack([1 - probs, probs], -1))
    expected = np.stack([costs[:, 3 * k : 3 * k + 3].mean((0, 1)) for k in range(4)])
    np.testing.assert_allclose(np.diff(energy.unary.reshape(4, 2)), np.diff(expected), atol=1e-5)


def test_a_labeling_becomes_a_picture():
    post = mf.infer(superpixel_energy(IMAGE, SCRIBBLES, WHERE), 1)
    pixels = as_pixels(post, WHERE)
    assert pixels.shape == (4, 12)
    np.testing.assert_array_equal(pixels.labelings()[0], post.labelings()[0][WHERE])
    np.testing.assert_allclose(pixels.weights, post.weights)


@pytest.mark.parametrize("wrong", [np.zeros((3, 12), int), np.full((4, 12), -1)])
def test_wrong_superpixels_are_named(wrong):
    with pytest.raises(mf.errors.MixfieldError, match="superpixels"):
        superpixel_energy(IMAGE, SCRIBBLES, wrong)


@pytest.mark.slow
def test_the_demo_is_near_the_exact_answer_to_its_two_questions():
    photo = mf.datasets.scribbled_photo()
    energy = superpixel_energy(photo.image, photo.scribbles, photo.superpixels, certainty=0.99)
    post, truth = mf.infer(energy, 4), mf.exact(energy)
    assert post.log_z < truth.log_z
    for row, column in ((225, 200), (160, 235)):  # the helmet, the table
        place = photo.superpixels[row, column]
        assert post.marginals()[place, 1] == pytest.approx(truth.marginals[place, 1], abs=0.1)
