"""The kernels of occupancy maps equal their plain-loop twins (tests/naive.py), and what they promise holds."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from rooms import random_masks, random_room

import mixfield as mf
from mixfield import _threads, kernels
from mixfield.solvers import occupancy as silhouettes
from mixfield.solvers.tilt import CountPotential, Tilt

pytestmark = pytest.mark.interpreted


def _naive_views(energy):
    return [(view.boxes.tolist(), mask) for view, mask in zip(energy.scene.views, energy.masks, strict=True)]


@pytest.mark.parametrize("size", [1, 3, 64])
def test_exponential_is_exp(size):
    x = -np.random.default_rng(0).exponential(50.0, size)
    x[0] = 0.0
    out = np.empty(size)
    kernels.silhouettes.exponential(x, out)
    np.testing.assert_allclose(out, np.exp(x), rtol=2e-11)


def test_average_image_by_corners():
    rng = np.random.default_rng(1)
    scene = random_room(rng, (3, 3), 1, (17, 12))
    energy = mf.Occupancy(scene, random_masks(rng, scene))
    empty = rng.uniform(0.05, 1.0, 9)
    views = energy.views
    height, width = int(views.height[0]), int(views.width[0])
    size = (height + 1) * (width + 1)
    difference, image = np.empty(size), np.empty((height + 1, width + 1, 2))
    kernels.silhouettes.corners(views.corner, views.cell, np.log(empty), difference)
    block = views.block.reshape(height, width, 2)
    kernels.silhouettes.integrals(difference.reshape(height + 1, width + 1), block, image)
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
    costs, images = np.empty((8, 2)), np.empty((3, kernels.silhouettes.largest(energy.views)))
    total = kernels.silhouettes.field(energy.views, empty, images, costs)
    power = {"released": 2, "article": 1}[form]
    weights = [1 / (power * v) for v in energy.variance]
    expected, expected_total = naive.silhouette_field(_naive_views(energy), empty, weights, power, 0.01, ignored)
    assert total == pytest.approx(expected_total, rel=1e-9)
    np.testing.assert_allclose(costs, expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("temperature", [1.0, 2.5])
def test_ascend_equals_its_twin(temperature):
    rng = np.random.default_rng(3)
    scene = random_room(rng, (2, 3))
    energy = mf.Occupancy(scene, random_masks(rng, scene), damping=0.7)
    bias = rng.normal(size=(6, 2))
    start = energy.start.reshape(1, 6, 2)
    run = silhouettes.ascend(
        energy,
        start,
        Tilt.shared(bias, 1),
        temperature=np.array([temperature]),
        tolerance=1e-5,
        max_iterations=60,
        threads=1,
    )
    empty, made = naive.silhouette_ascend(
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
    assert run.iterations[0] == made
    np.testing.assert_allclose(run.q[0, :, 0], empty, atol=1e-8)


def test_ascend_takes_counts_and_bans_and_threads_do_not_matter(monkeypatch):
    monkeypatch.setattr(_threads, "WORTH_IT", 0.0)
    rng = np.random.default_rng(4)
    scene = random_room(rng, (3, 4))
    energy = mf.Occupancy(scene, [np.zeros((14, 19))] * 2)
    bias = np.zeros((1, 12, 2))
    bias[0, 5, 1] = np.inf
    push = CountPotential(np.array([0, 1, 2]), np.ones(3, np.int64), 1, -1000.0)
    tilt = Tilt(bias, np.zeros(4, np.int32), ((push,),) * 2 + ((),) * 2)
    q = np.repeat(energy.start.reshape(1, 12, 2), 4, 0)
    one, two = (
        silhouettes.ascend(energy, q, tilt, temperature=np.ones(4), tolerance=1e-6, max_iterations=60, threads=threads)
        for threads in (1, 2)
    )
    assert one.q.tobytes() == two.q.tobytes()
    assert (one.q[:, 5, 1] == 0).all()
    anybody = 1.0 - one.q[:, :3, 0].prod(1)
    assert (anybody[:2] > 0.9).all()
    assert (anybody[2:] < anybody[:2]).all()


def test_cost_of_an_update_does_not_depend_on_the_area_of_rectangles():
    """Counted, not timed: the kernels visit pixels once and rectangles at their corners."""
    small = random_room(np.random.default_rng(0), (2, 3), 1, (40, 40), hidden=0.0)
    corners = mf.Occupancy(small, [np.zeros((40, 40))]).views.corner
    assert corners.shape == (6, 4)
