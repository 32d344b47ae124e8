"""Mean field of occupancy maps equals its plain-loop twins; also run without the compiler."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from rooms import random_masks, random_room

import mixfield as mf
from mixfield.kernels import silhouettes
from mixfield.solvers.tilt import CountPotential, Tilt

pytestmark = pytest.mark.interpreted


def _naive_views(energy):
    return [(view.boxes.tolist(), mask) for view, mask in zip(energy.scene.views, energy.masks, strict=True)]


@pytest.mark.parametrize("size", [1, 3, 64])
def test_exponential_is_exp(size):
    x = -np.random.default_rng(0).exponential(50.0, size)
    x[0] = 0.0
    out = np.empty(size)
    silhouettes.exponential(x, out)
    np.testing.assert_allclose(out, np.exp(x), rtol=1e-13)


def test_average_image_by_corners():
    rng = np.random.default_rng(1)
    scene = random_room(rng, (3, 3), 1, (17, 12))
    energy = mf.Occupancy(scene, random_masks(rng, scene))
    empty = rng.uniform(0.05, 1.0, 9)
    views = energy.views
    height, width = int(views.height[0]), int(views.width[0])
    size = (height + 1) * (width + 1)
    difference, image = np.empty(size), np.empty((height + 1, width + 1, 2))
    silhouettes.corners(views.corner, views.cell, np.log(empty), difference)
    block = views.block.reshape(height, width, 2)
    silhouettes.integrals(difference.reshape(height + 1, width + 1), block, image)
    bare = naive.uncovered(scene.views[0].boxes.tolist(), empty, 12, 17)
    assert image[-1, -1, 0] + views.bare[0] == pytest.approx(bare.sum(), rel=1e-10)
    assert image[-1, -1, 1] + views.bare_mask[0] == pytest.approx((bare * energy.masks[0]).sum(), rel=1e-10)


@pytest.mark.parametrize("form", ["released", "article"])
@pytest.mark.parametrize("ignored", [1.0, 0.6])
@pytest.mark.parametrize("seed", range(4))
def test_field_equals_its_twin(seed, form, ignored):
    rng = np.random.default_rng(seed)
    scene = random_room(rng, (2, 4))
    energy = mf.Occupancy(scene, random_masks(rng, scene), form=form, ignored=ignored)
    empty = rng.uniform(0.01, 1.0, 8)
    costs, images = np.empty((8, 2)), np.empty((3, silhouettes.largest(energy.views)))
    total = silhouettes.field(energy.views, empty, images, costs)
    power = {"released": 2, "article": 1}[form]
    weights = [1 / (power * v) for v in energy.variance]
    expected, expected_total = naive.silhouette_field(_naive_views(energy), empty, weights, power, 0.01, ignored)
    assert total == pytest.approx(expected_total, rel=1e-9)
    np.testing.assert_allclose(costs, expected, rtol=1e-7, atol=1e-8)


def _ascend(energy, q, tilt, temperature, tolerance, limit, first=0, last=None):
    """All modes ``q`` (K, N, 2) from ``first`` on: marginals, iterations, last changes and convergence."""
    q, count = q.copy(), len(q)
    made, changes, converged = np.zeros(count, np.int32), np.zeros(count), np.zeros(count, np.bool_)
    silhouettes.ascend(
        energy.views, tilt.bias + energy.prior_costs, tilt.bias_of, tilt.flat_counts(), temperature, energy.damping,
        tolerance, 5, limit, first, count if last is None else last, q, made, changes, converged,
    )  # fmt: skip
    return q, made, changes, converged


@pytest.mark.parametrize("temperature", [1.0, 2.5])
def test_ascend_equals_its_twin(temperature):
    rng = np.random.default_rng(3)
    scene = random_room(rng, (2, 3))
    energy = mf.Occupancy(scene, random_masks(rng, scene), damping=0.7)
    bias = rng.normal(size=(6, 2))
    start = energy.start.reshape(1, 6, 2)
    q, made, changes, converged = _ascend(energy, start, Tilt.shared(bias, 1), np.array([temperature]), 1e-5, 60)
    empty, expected = naive.silhouette_ascend(
        _naive_views(energy),
        start[0, :, 0],
        bias + energy.prior_costs,
        temperature,
        0.7,
        1e-5,
        5,
        60,
        weights=[1 / (2 * v) for v in energy.variance],
        power=2,
        noise=0.01,
    )
    assert made[0] == expected
    assert converged[0] == (expected < 60)
    assert not converged[0] or changes[0] < 1e-5
    np.testing.assert_allclose(q[0, :, 0], empty, atol=1e-8)
    np.testing.assert_allclose(q[0].sum(1), 1.0, atol=1e-15)


def test_ascend_takes_counts_and_forbidden_labels():
    scene = random_room(np.random.default_rng(4), (3, 4))
    energy = mf.Occupancy(scene, [np.zeros((14, 19))] * 2)
    bias = np.zeros((1, 12, 2))
    bias[0, 5, 1] = np.inf
    push = CountPotential(np.array([0, 1, 2]), np.ones(3, np.int64), 1, -1000.0)
    tilt = Tilt(bias, np.zeros(4, np.int32), ((push,),) * 2 + ((),) * 2)
    start = np.repeat(energy.start.reshape(1, 12, 2), 4, 0)
    start[:, 5] = (1.0, 0.0)
    q, made, _, _ = _ascend(energy, start, tilt, np.ones(4), 1e-6, 60)
    assert (q[:, 5, 1] == 0).all()
    occupied = 1.0 - q[:, :3, 0].prod(1)
    assert (occupied[:2] > 0.9).all()
    assert (occupied[2:] < occupied[:2]).all()
    some, some_made, _, _ = _ascend(energy, start, tilt, np.ones(4), 1e-6, 60, 1, 3)
    np.testing.assert_array_equal(some[1:3], q[1:3])
    np.testing.assert_array_equal(some[[0, 3]], start[[0, 3]])
    assert some_made.tolist() == [0, made[1], made[2], 0]


def test_rectangles_are_stored_by_their_corners():
    """The cost of an update does not depend on their area: four corners each, whatever the size of the image."""
    for size in (40, 80):
        scene = random_room(np.random.default_rng(0), (2, 3), 1, (size, size), hidden=0.0)
        views = mf.Occupancy(scene, [np.zeros((size, size))]).views
        assert views.corner.shape == (6, 4)
        assert silhouettes.largest(views) == (views.height[0] + 1) * (views.width[0] + 1) <= 18 * 14
