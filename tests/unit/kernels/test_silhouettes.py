"""Mean field of occupancy maps equals its plain-loop twins; also run without the compiler."""

from __future__ import annotations

from dataclasses import replace

import naive
import numpy as np
import pytest
from rooms import naive_views, random_masks, random_room, random_room_of_heights

import mixfield as mf
from mixfield.kernels import silhouettes

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize("size", [1, 3, 64])
def test_exponential_is_exp(size):
    x = -np.random.default_rng(0).exponential(50.0, size)
    x[0] = 0.0
    out = np.empty(size)
    silhouettes.exponential(x, out)
    np.testing.assert_allclose(out, np.exp(x), rtol=1e-13)


def test_blocks_are_sums_between_edges():
    image = np.random.default_rng(0).random((9, 7))
    rows, columns, out = np.array([1, 2, 5, 9]), np.array([0, 3, 4]), np.full((4, 2), 7.0)
    silhouettes.blocks(image, rows, columns, out)
    expected = [[image[t:b, l:r].sum() for l, r in ((0, 3), (3, 4))] for t, b in ((1, 2), (2, 5), (5, 9))]
    np.testing.assert_allclose(out, [*expected, [0.0, 0.0]], rtol=1e-14)


def test_average_image_by_corners():
    rng = np.random.default_rng(1)
    scene = random_room(rng, (3, 3), 1, (17, 12))
    energy = mf.Occupancy(scene, random_masks(rng, scene))
    empty = rng.uniform(0.05, 1.0, 9)
    views = energy.views
    height, width = int(views.height[0]), int(views.width[0])
    size = (height + 1) * (width + 1)
    difference, image = np.empty(size), np.empty((height + 1, width + 1, 2))
    silhouettes.corners(views.corner, views.cell, np.log(empty)[:, None], difference)
    block = views.block.reshape(height, width, 2)
    silhouettes.integrals(difference.reshape(height + 1, width + 1), block, image)
    work = np.empty((3, silhouettes.largest(views)))
    whole = silhouettes.average_image(views, 0, np.log(empty)[:, None], work)
    np.testing.assert_array_equal(whole, image.reshape(-1, 2))
    bare = naive.uncovered(scene.views[0].boxes.tolist(), empty, 12, 17)
    assert image[-1, -1, 0] + views.bare[0] == pytest.approx(bare.sum(), rel=1e-10)
    assert image[-1, -1, 1] + views.bare_mask[0] == pytest.approx((bare * energy.masks[0]).sum(), rel=1e-10)


@pytest.mark.parametrize("room", [random_room, random_room_of_heights])
@pytest.mark.parametrize("form", ["released", "article"])
@pytest.mark.parametrize("ignored", [1.0, 0.6])
@pytest.mark.parametrize("seed", range(4))
def test_field_equals_its_twin(seed, form, ignored, room):
    rng = np.random.default_rng(seed)
    scene = room(rng, (2, 4))
    energy = mf.Occupancy(scene, random_masks(rng, scene), form=form, ignored=ignored)
    empty, shares = rng.uniform(0.01, 1.0, 8), rng.dirichlet(np.ones(len(scene.heights)), 8)
    costs, images = np.empty((8, 1 + shares.shape[1])), np.empty((3, silhouettes.largest(energy.views)))
    total = silhouettes.field(energy.views, empty, shares, images, costs)
    power = {"released": 2, "article": 1}[form]
    weights = [1 / (power * v) for v in energy.variance]
    views = naive_views(energy)
    expected, expected_total = naive.silhouette_field(views, empty, weights, power, 0.01, ignored, shares)
    assert total == pytest.approx(expected_total, rel=1e-9)
    np.testing.assert_allclose(costs, expected, rtol=1e-7, atol=1e-8)


def test_heights_that_all_are_one_height():
    """With all the probability at one height, the image is that of its rectangles."""
    rng = np.random.default_rng(2)
    scene = random_room_of_heights(rng, (2, 4))
    masks, empty = random_masks(rng, scene), rng.uniform(0.01, 1.0, 8)
    for h in range(3):
        views = tuple(replace(view, boxes=view.sizes[:, h], sizes=None) for view in scene.views)
        alone = mf.Occupancy(replace(scene, views=views, heights=(1.0,)), masks)
        several, one = np.empty((8, 4)), np.empty((8, 2))
        for energy, shares, costs in (
            (mf.Occupancy(scene, masks), np.tile(np.eye(3)[h], (8, 1)), several),
            (alone, np.ones((8, 1)), one),
        ):
            images = np.empty((3, silhouettes.largest(energy.views)))
            total = silhouettes.field(energy.views, empty, shares, images, costs)
            costs += total
        np.testing.assert_allclose(several[:, [0, 1 + h]], one, rtol=1e-7)


def test_merged_heights_are_a_free_energy():
    """The cost of a person is the smallest expected cost plus divergence from the prior, at the posterior."""
    rng = np.random.default_rng(3)
    scene = random_room_of_heights(rng, (2, 4))
    views, prior = mf.Occupancy(scene, random_masks(rng, scene)).views, np.array(scene.heights)
    costs, shares = rng.normal(size=(8, 4)), rng.dirichlet(np.ones(3), 8)
    merged, target = costs.copy(), shares.copy()
    distance = silhouettes.merge_heights(views, np.full(8, 0.25), target, merged)
    np.testing.assert_allclose(merged[:, 1], -np.log(np.exp(-costs[:, 1:]) @ prior))
    np.testing.assert_allclose(target, prior * np.exp(merged[:, 1:2] - costs[:, 1:]))
    assert distance == pytest.approx(0.75 * np.abs(target - shares).max())

    def bound(r):
        return (r * (costs[:, 1:] + np.log(r / prior))).sum(1)

    np.testing.assert_allclose(bound(target), merged[:, 1])
    assert (bound(rng.dirichlet(np.ones(3), 8)) > merged[:, 1]).all()


@pytest.mark.parametrize("seed", range(4))
def test_solved_heights_are_the_posterior_given_their_own_image(seed):
    rng = np.random.default_rng(seed)
    scene = random_room_of_heights(rng, (2, 4))
    views, prior = mf.Occupancy(scene, random_masks(rng, scene)).views, np.array(scene.heights)
    empty, shares = rng.uniform(0.01, 1.0, 8), np.tile(prior, (8, 1))
    costs, images = np.empty((8, 4)), np.empty((3, silhouettes.largest(views)))
    total = silhouettes.solve_heights(views, empty, shares, images, costs)
    again = np.empty((8, 4))
    assert silhouettes.field(views, empty, shares, images, again) == pytest.approx(total, abs=1e-4)
    target = prior * np.exp(-again[:, 1:])
    np.testing.assert_allclose(shares, target / target.sum(1, keepdims=True), atol=1e-4)
    np.testing.assert_allclose(costs[:, 1], -np.log(target.sum(1)), atol=1e-4)


def test_rectangles_are_stored_by_their_corners():
    """The cost of an update does not depend on their area: four corners each, whatever the size of the image."""
    for size in (40, 80):
        scene = random_room(np.random.default_rng(0), (2, 3), 1, (size, size), hidden=0.0)
        views = mf.Occupancy(scene, [np.zeros((size, size))]).views
        assert views.corner.shape == (6, 1, 4)
        assert silhouettes.largest(views) == (views.height[0] + 1) * (views.width[0] + 1) <= 18 * 14
