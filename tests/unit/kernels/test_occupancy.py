"""Updates of occupancy maps equal their plain-loop twins; rates and parts keep the fixed points."""

from __future__ import annotations

import numpy as np
import pytest
from rooms import naive_iteration, random_masks, random_room, random_room_of_heights

import mixfield as mf
from mixfield.kernels import occupancy, silhouettes
from mixfield.scene.view import View
from mixfield.solvers.tilt import CountPotential, Tilt

pytestmark = pytest.mark.interpreted


def _ascend(energy, q, tilt, temperature, tolerance, limit, first=0, last=None):
    """All modes ``q`` (K, N, 2) from ``first`` on: marginals, iterations, last changes and convergence."""
    q, count = q.copy(), len(q)
    made, changes, converged = np.zeros(count, np.int32), np.zeros(count), np.zeros(count, np.bool_)
    adaptive = energy.damping is None
    rule = occupancy.Rule(0.2 if adaptive else 1.0 - energy.damping, adaptive, tolerance, 5, limit)
    occupancy.ascend(
        energy.views, energy.prior_costs, tilt.bias, tilt.bias_of, tilt.flat_counts(), temperature, rule, first,
        count if last is None else last, q, made, changes, converged,
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
    empty, expected = naive_iteration(energy, bias, temperature, tolerance=1e-5, limit=60)
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


@pytest.mark.parametrize("room", [random_room, random_room_of_heights])
@pytest.mark.parametrize("form", ["released", "local"])
@pytest.mark.parametrize("ignored", [1.0, 0.6])
@pytest.mark.parametrize("cells", [[], [3], [0, 2, 5, 7]])
def test_some_cells_have_the_field_that_they_have_among_all(cells, ignored, form, room):
    rng = np.random.default_rng(len(cells))
    scene = room(rng, (2, 4))
    views = mf.Occupancy(scene, random_masks(rng, scene), ignored=ignored, form=form).views
    empty, images = rng.uniform(0.01, 1.0, 8), np.empty((3, silhouettes.largest(views)))
    share = rng.dirichlet(np.ones(len(scene.heights)), 8)
    part = occupancy.restricted(views, np.array(cells, np.uint32), empty, share, images)
    assert len(part.block) <= len(views.block)
    whole, some = np.empty((8, 1 + share.shape[1])), np.full((8, 1 + share.shape[1]), 7.0)
    total = silhouettes.field(views, empty, share, images, whole)
    assert silhouettes.field(part, empty, share, images, some) == pytest.approx(total, rel=1e-9)
    np.testing.assert_allclose(some[cells], whole[cells], rtol=1e-7, atol=1e-8)
    others = np.setdiff1d(np.arange(8), cells)
    assert (some[others] == 7.0).all()


@pytest.mark.parametrize("room", [random_room, random_room_of_heights])
@pytest.mark.parametrize("few", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_adaptive_rates_reach_a_fixed_point(seed, few, room, monkeypatch):
    """With updates of all cells only, and with updates of those that move (without the compiler, which keeps FEW)."""
    monkeypatch.setattr(occupancy, "FEW", few)
    rng = np.random.default_rng(seed)
    scene = room(rng, (3, 4))
    energy = mf.Occupancy(scene, random_masks(rng, scene))
    start, tilt = energy.start.reshape(1, 12, 2), Tilt.shared(np.zeros((12, 2)), 1)
    q, made, changes, converged = _ascend(energy, start, tilt, np.ones(1), 1e-6, 500)
    assert converged[0]
    assert changes[0] < 1e-6
    field = energy.local_field(q[0].reshape(3, 4, 2)).reshape(12, 2)
    np.testing.assert_allclose(q[0, :, 0], 1.0 / (1.0 + np.exp(field[:, 0] - field[:, 1])), atol=1e-5)
    assert 5 <= made[0] < 500


def test_rates_follow_the_direction():
    assert occupancy._next_rate(0.1, 1.0, occupancy.HIGHEST) == 0.1 * occupancy.FASTER
    assert occupancy._next_rate(0.2, -1.0, occupancy.HIGHEST) == 0.2 * occupancy.SLOWER
    assert occupancy._next_rate(0.2, 0.0, occupancy.HIGHEST) == 0.2
    assert occupancy._next_rate(occupancy.HIGHEST, 1.0, occupancy.HIGHEST) == occupancy.HIGHEST
    assert occupancy._next_rate(occupancy.LOWEST, -1.0, occupancy.HIGHEST) == occupancy.LOWEST
    assert occupancy._next_rate(occupancy.HIGHEST, 1.0, 0.8) == occupancy.HIGHEST * occupancy.FASTER
    assert occupancy._next_rate(0.5, 1.0, occupancy.HIGHEST) == 0.5  # reached while few cells moved


@pytest.mark.parametrize("damping", [0.8, None])
def test_cells_that_hardly_move_take_their_target(damping):
    """One update: cells whose step is a twentieth of the tolerance end at it, others go a share of the way."""
    scene = random_room(np.random.default_rng(5), (3, 4))
    energy = mf.Occupancy(scene, [np.zeros((14, 19))] * 2, damping=damping)
    fixed, *_ = _ascend(
        energy, energy.start.reshape(1, 12, 2), Tilt.shared(np.zeros((12, 2)), 1), np.ones(1), 1e-12, 500
    )
    start = fixed.copy()
    start[0, 4] += (2e-6, -2e-6)
    start[0, 7] += (2e-4, -2e-4)
    q, *_ = _ascend(energy, start, Tilt.shared(np.zeros((12, 2)), 1), np.ones(1), 1e-4, 1)
    left = np.abs(q - fixed)[0, [4, 7], 0] / np.abs(start - fixed)[0, [4, 7], 0]
    assert left[1] == pytest.approx(0.8, abs=0.05)
    assert left[0] == pytest.approx(0.8 if damping else 0.0, abs=0.05)


def test_an_update_adds_no_more_people_than_the_prior_expects():
    """40 silhouettes, each of which 100 cells explain: damped updates fill a fifth of the ground, adaptive do not."""
    left = np.arange(4000, dtype=np.int32) // 100
    boxes = np.stack([left, np.full_like(left, 2), left + 1, np.full_like(left, 8)], axis=1)
    scene = mf.Scene(mf.scene.Ground((40, 100), 0.25), (View(40, 10, boxes),), prior=0.001)
    mask = np.zeros((10, 40))
    mask[2:8] = 1.0
    added = {}
    for damping in (0.8, None):
        energy = mf.Occupancy(scene, [mask], variance=0.001, damping=damping)
        start = energy.start.reshape(1, 4000, 2)
        q, *_ = _ascend(energy, start, Tilt.shared(np.zeros((4000, 2)), 1), np.ones(1), 1e-4, 1)
        added[damping] = q[0, :, 1].sum() - start[0, :, 1].sum()
    assert added[0.8] > 700.0
    assert added[None] == pytest.approx(4.0)
