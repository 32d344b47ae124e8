"""Occupancy maps as an energy: against pixels counted one by one, and against enumeration of small rooms."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from rooms import random_masks, random_room, random_room_of_heights, seen
from scipy.special import entr

import mixfield as mf
from mixfield.apps.heights import with_heights
from mixfield.datasets import look_at
from mixfield.errors import MixfieldError
from mixfield.scene import Ground
from mixfield.scene.view import View


def _states(n):
    return np.array(list(itertools.product((0, 1), repeat=n)))


def _weights(q, states):
    return np.where(states == 1, q[:, 1], q[:, 0]).prod(1)


def _brute(energy, x):
    """The energy of people, from its definition."""
    scene = energy.scene
    cost = -np.sum(np.where(x, np.log(scene.prior), np.log1p(-scene.prior)))
    for mask, image, v in zip(energy.masks, seen(scene, np.flatnonzero(x)), energy.variance, strict=True):
        noise = 0.01 * mask.size
        wrong = (image * (1 - mask) + (1 - image) * mask).sum() + noise
        cost += (wrong / (image.sum() + noise)) ** 2 / (2 * v)
    return cost


@pytest.mark.parametrize("seed", range(3))
def test_of_counts_pixels(seed):
    rng = np.random.default_rng(seed)
    scene = random_room(rng)
    energy = mf.Occupancy(scene, random_masks(rng, scene))
    for x in rng.integers(0, 2, (10, 6)):
        assert energy.of(x.reshape(2, 3)) == pytest.approx(_brute(energy, x), rel=1e-12)


@pytest.mark.parametrize("form", ["released", "article", "local"])
def test_field_and_expectation_are_exact_where_one_cell_is_uncertain(form):
    rng = np.random.default_rng(7)
    scene = random_room(rng, (2, 4))
    energy = mf.Occupancy(scene, random_masks(rng, scene), form=form)
    for _ in range(8):
        x = rng.integers(0, 2, 8)
        n = rng.integers(8)
        q = np.stack([1 - x, x], axis=-1).astype(float)
        q[n] = (0.3, 0.7)
        with_n = [energy.of(np.where(np.arange(8) == n, label, x).reshape(2, 4)) for label in (0, 1)]
        field = energy.local_field(q.reshape(2, 4, 2)).reshape(8, 2)[n]
        assert field[1] - field[0] == pytest.approx(with_n[1] - with_n[0], rel=1e-4, abs=1e-4)
        assert energy.expected(q.reshape(2, 4, 2)) == pytest.approx(0.3 * with_n[0] + 0.7 * with_n[1], rel=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_the_local_form_is_a_sum_over_pixels_and_its_expectation_is_exact(seed):
    rng = np.random.default_rng(seed)
    scene = random_room(rng)
    energy = mf.Occupancy(scene, random_masks(rng, scene), form="local", variance=0.2)
    states = _states(6)
    for x in states[::7]:
        cost = (energy.prior_costs[1] - energy.prior_costs[0]) * x.sum() + 6 * energy.prior_costs[0]
        for view, mask, image in zip(scene.views, energy.masks, seen(scene, np.flatnonzero(x)), strict=True):
            cost += (view.person_weights * np.abs(image - mask)).sum() / 0.2
        assert energy.of(x.reshape(2, 3)) == pytest.approx(cost, rel=1e-10)
    q = rng.dirichlet([1, 1], 6)
    truth = _weights(q, states) @ np.array([energy.of(x.reshape(2, 3)) for x in states])
    assert float(energy.expected(q.reshape(2, 3, 2))) == pytest.approx(truth, rel=1e-9)
    mode = mf.mean_field(energy)
    log_z = np.logaddexp.reduce([-energy.of(x.reshape(2, 3)) for x in states])
    assert mode.log_z <= log_z + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_heights_against_enumeration(seed):
    """In the local form the bound of people of unknown heights holds, and A_k is the expectation minus the entropy."""
    rng = np.random.default_rng(seed)
    scene = random_room_of_heights(rng)
    energy = mf.Occupancy(scene, random_masks(rng, scene), form="local", variance=0.2)
    states = np.array(list(itertools.product(range(4), repeat=6)))
    costs = np.array([energy.of(x.reshape(2, 3)) for x in states])
    mode = mf.mean_field(energy)
    q, r = mode.marginals.reshape(6, 2), energy.heights(mode.marginals).reshape(6, 3)
    joint = np.concatenate([q[:, :1], q[:, 1:] * r], axis=1)
    np.testing.assert_allclose(joint.sum(1), 1.0)
    expected = joint[np.arange(6), states].prod(1) @ costs
    assert mode.log_z == pytest.approx(entr(joint).sum() - expected, abs=1e-6)
    log_z = np.logaddexp.reduce(-costs)
    assert mode.log_z < log_z
    blind = np.concatenate([q[:, :1], q[:, 1:] * scene.heights], axis=1)  # heights as in the prior
    assert entr(blind).sum() - blind[np.arange(6), states].prod(1) @ costs < mode.log_z - 1e-3


@pytest.mark.parametrize("form", ["released", "article", "local"])
def test_the_height_of_the_only_uncertain_person_is_exact(form):
    rng = np.random.default_rng(8)
    scene = random_room_of_heights(rng, (2, 4))
    energy = mf.Occupancy(scene, random_masks(rng, scene), form=form)
    for n in np.flatnonzero(np.any([view.visible for view in scene.views], axis=0)):
        with_n = np.array([energy.of(np.where(np.arange(8) == n, k, 0).reshape(2, 4)) for k in range(4)])
        q = np.tile([1.0, 0.0], (8, 1))
        q[n] = (0.4, 0.6)
        field = energy.local_field(q.reshape(2, 4, 2)).reshape(8, 2)[n]
        person = -np.logaddexp.reduce(-with_n[1:])
        assert field[1] - field[0] == pytest.approx(person - with_n[0], rel=1e-4, abs=1e-4)
        heights = energy.heights(q.reshape(2, 4, 2)).reshape(8, 3)[n]
        np.testing.assert_allclose(heights, np.exp(person - with_n[1:]), atol=1e-4)
        assert energy.expected(q.reshape(2, 4, 2)) == pytest.approx(0.4 * with_n[0] + 0.6 * person, rel=1e-5)


def test_silhouettes_tell_the_height():
    """Without noise, each of three people far apart has the height of the silhouette."""
    camera = look_at((-2.0, 3.0, 3.0), (4.0, 3.0, 0.9), size=(320, 240), focal=250.0)
    scene = mf.Scene.from_cameras([camera], (0.0, 0.0, 6.0, 6.0), margin=0.0)
    scene = with_heights(scene, (1.55, 1.75, 1.95), (1, 1, 1))
    people = {(4, 6): 0, (12, 10): 1, (18, 17): 2}
    mask = np.zeros((240, 320), bool)
    for (row, column), k in people.items():
        left, top, right, bottom = scene.views[0].sizes[row * 24 + column, k]
        mask[top:bottom, left:right] = True
    energy = mf.Occupancy(scene, [mask])
    mode = mf.mean_field(energy)
    assert set(zip(*np.nonzero(mode.labeling()), strict=True)) == set(people)
    for place, k in people.items():
        assert energy.heights(mode.marginals)[place].argmax() == k


@pytest.mark.parametrize("form", ["released", "article", "local"])
def test_unobserved_pixels_do_not_matter(form):
    """Whatever a mask shows behind a sign, every cost is the same."""
    rng = np.random.default_rng(3)
    scene = random_room(rng)
    masks = random_masks(rng, scene)
    observed = [np.ones((view.height, view.width)) for view in scene.views]
    observed[0][:, : scene.views[0].width // 2] = 0.0
    views = tuple(replace(view, observed=share) for view, share in zip(scene.views, observed, strict=True))
    hidden = replace(scene, views=views)
    energy = mf.Occupancy(hidden, masks, form=form)
    other = [np.where(observed[0] > 0, masks[0], 1.0 - np.asarray(masks[0], float)), *masks[1:]]
    changed = mf.Occupancy(hidden, other, form=form)
    q = rng.dirichlet([1, 1], 6).reshape(2, 3, 2)
    np.testing.assert_allclose(energy.local_field(q), changed.local_field(q), rtol=1e-9, atol=1e-9)
    x = rng.integers(0, 2, (2, 3))
    assert energy.of(x) == pytest.approx(changed.of(x))
    assert energy.of(x) != pytest.approx(mf.Occupancy(scene, masks, form=form).of(x))


def test_one_more_person_counts_as_much_in_a_crowd():
    """Eight people side by side: in the local form the last one is as certain as the first, in POM's is not."""
    boxes = np.array([[10 * k, 0, 10 * k + 10, 20] for k in range(8)], np.int32)
    scene = mf.Scene(Ground((1, 8), 1.0), (View(80, 40, boxes),), prior=0.01)
    mask = np.zeros((40, 80))
    mask[:20, :10] = 1.0
    crowd = np.zeros((40, 80))
    crowd[:20] = 1.0
    gains = {}
    for form in ("released", "local"):
        for name, image, others in (("alone", mask, 0.0), ("crowd", crowd, 1.0)):
            x = np.full((1, 8), int(others))
            energy = mf.Occupancy(scene, [image], form=form)
            x[0, 0] = 0
            without = energy.of(x)
            x[0, 0] = 1
            gains[form, name] = without - energy.of(x)
    assert gains["local", "alone"] == pytest.approx(gains["local", "crowd"])
    assert gains["released", "crowd"] < 0.2 * gains["released", "alone"]


@pytest.mark.parametrize("seed", range(5))
def test_free_energy_against_enumeration(seed):
    """In rooms of 12 cells: the expected cost near enough to the truth, and nearer than psi of the mean image."""
    rng = np.random.default_rng(seed)
    scene = random_room(rng, (3, 4))
    energy = mf.Occupancy(scene, random_masks(rng, scene))
    states = _states(12)
    costs = np.array([energy.of(x.reshape(3, 4)) for x in states])
    log_z = np.logaddexp.reduce(-costs)
    mode = mf.mean_field(energy)
    q = mode.marginals.reshape(12, 2)
    truth = _weights(q, states) @ costs
    average, *_ = energy._psi(mode.marginals)
    plain = float(average) + (q * energy.prior_costs).sum()
    ours = float(energy.expected(mode.marginals))
    assert abs(ours - truth) < 0.05 + 0.25 * abs(plain - truth)
    assert mode.log_z == pytest.approx(entr(q).sum() - ours)
    assert mode.log_z <= log_z + abs(ours - truth) + 1e-9


def test_mixture_of_a_small_room_approaches_log_z():
    scene = mf.Scene(
        Ground((1, 6), 0.5),
        (View(30, 20, np.array([[4 * k, 4, 4 * k + 8, 16] for k in range(6)])),),
        prior=0.1,
        variance=(0.2,),
    )
    energy = mf.Occupancy(scene, seen(scene, [1, 4]))
    states = _states(6)
    log_z = np.logaddexp.reduce([-energy.of(x.reshape(1, 6)) for x in states])
    one, four = (mf.infer(energy, k).log_z for k in (1, 4))
    assert one <= four <= log_z + 0.05
    assert log_z - four < 0.8 * (log_z - one)


def test_batch_is_one_after_the_other():
    rng = np.random.default_rng(0)
    scene = random_room(rng)
    energy = mf.Occupancy(scene, random_masks(rng, scene))
    p = rng.random((4, 2, 3))
    q = np.stack([1 - p, p], axis=-1)
    np.testing.assert_array_equal(energy.local_field(q), [energy.local_field(one) for one in q])
    np.testing.assert_array_equal(energy.expected(q), [energy.expected(one) for one in q])


def test_variance_follows_the_size_of_a_person():
    scene = random_room(np.random.default_rng(0), variance=None)
    energy = mf.Occupancy(scene, random_masks(np.random.default_rng(1), scene))
    seen = np.array([view.visible for view in scene.views])
    witnesses = [seen[:, view.visible].sum(0).mean() for view in scene.views]
    assert max(witnesses) > 1
    expected = [0.2 * view.person_share() * count for view, count in zip(scene.views, witnesses, strict=True)]
    assert energy.variance == pytest.approx(expected)
    assert mf.Occupancy(scene, energy.masks, variance=0.3).variance == (0.3, 0.3)
    assert mf.Occupancy(scene, energy.masks, variance=[0.1, 0.2]).variance == (0.1, 0.2)


def test_variance_of_one_view_does_not_know_of_others():
    scene = random_room(np.random.default_rng(0), variance=None)
    alone = scene.of_views([1])
    energy = mf.Occupancy(alone, random_masks(np.random.default_rng(1), alone))
    assert energy.variance == pytest.approx([0.2 * alone.views[0].person_share()])


@pytest.mark.parametrize(
    "changed", [{"form": "article"}, {"variance": 0.01}, {"noise": 0.05}, {"ignored": 0.5}, {"damping": 0.5}]
)
def test_every_option_matters(changed):
    rng = np.random.default_rng(2)
    scene = random_room(rng, (3, 4))
    masks = random_masks(rng, scene)
    solver = mf.Solver(tolerance=1e-12, max_iterations=12)

    def run(**options):
        with pytest.warns(mf.errors.NotConvergedWarning):
            return mf.mean_field(mf.Occupancy(scene, masks, **options), solver=solver).marginals

    assert np.abs(run() - run(**changed)).max() > 1e-6


def test_masks_of_every_kind():
    scene = random_room(np.random.default_rng(0))
    soft = random_masks(np.random.default_rng(1), scene)
    hard = [mask > 0.5 for mask in soft]
    as_bytes = [mask.astype(np.uint8) for mask in hard]
    images = [np.repeat(255 * mask.astype(np.uint8)[..., None], 3, axis=2) for mask in hard]
    for same in (as_bytes, [255 * mask for mask in as_bytes], images, [m.astype(float) for m in hard]):
        np.testing.assert_array_equal(mf.Occupancy(scene, same).masks, hard)


def test_reduction_averages_pixels():
    full = random_room(np.random.default_rng(0), size=(21, 15), reduction=2)
    masks = [np.random.default_rng(3).random((15, 21)) for _ in full.views]
    energy = mf.Occupancy(full, masks)
    assert energy.masks[0].shape == (8, 11)
    assert energy.masks[0][0, 0] == pytest.approx(masks[0][:2, :2].mean())
    assert energy.masks[0][7, 10] == pytest.approx(masks[0][14, 20])
    again = mf.Occupancy(full, energy.masks)
    np.testing.assert_array_equal(again.masks[1], energy.masks[1])


@pytest.mark.parametrize("fill", [0.0, 1.0])
def test_empty_and_full_frames(fill):
    walk = mf.datasets.walking_people(1, 2, 1, rng=0)
    masks = np.full(walk.masks.shape[1:], fill)
    mode = mf.mean_field(mf.Occupancy(walk.scene, masks), solver=mf.Solver(tolerance=1e-4))
    assert np.isfinite(mode.marginals).all()
    assert np.isfinite(mode.log_z)
    if fill == 0.0:
        assert mode.labeling().sum() == 0


def test_bad_masks_are_named():
    scene = random_room(np.random.default_rng(0))
    good = random_masks(np.random.default_rng(1), scene)
    with pytest.raises(MixfieldError, match=r"mask must have shape \(height, width\) = \(14, 19\)"):
        mf.Occupancy(scene, [good[0], good[1][1:]])
    with pytest.raises(MixfieldError, match=r"one mask per view \(2\), got 1"):
        mf.Occupancy(scene, good[:1])
    with pytest.raises(MixfieldError, match=r"numbers in \[0, 1\]"):
        mf.Occupancy(scene, [good[0], 3.0 * good[1]])
    with pytest.raises(MixfieldError, match="mask must be an array of numbers, got list"):
        mf.Occupancy(scene, [good[0], [[0.0, 1.0], [0.0]]])
    with pytest.raises(MixfieldError, match=r"variance must be one number, or one per view \(2\), got shape \(3,\)"):
        mf.Occupancy(scene, good, variance=[0.1, 0.1, 0.1])
    for wrong in ({"form": "new"}, {"ignored": 0.0}, {"damping": 1.0}, {"noise": -1.0}, {"variance": 0.0}):
        with pytest.raises(MixfieldError, match=next(iter(wrong))):
            mf.Occupancy(scene, good, **wrong)


def test_a_camera_that_sees_nothing_changes_nothing():
    rng = np.random.default_rng(5)
    scene = random_room(rng, n_views=1)
    masks = random_masks(rng, scene)
    blind = View(8, 8, np.zeros((6, 4), np.int32))
    both = mf.Scene(scene.ground, (*scene.views, blind), prior=0.1, variance=(0.05, 0.05))
    one = mf.mean_field(mf.Occupancy(scene, masks))
    two = mf.mean_field(mf.Occupancy(both, [*masks, np.ones((8, 8))]))
    np.testing.assert_allclose(one.marginals, two.marginals)
    with pytest.raises(MixfieldError, match="no view shows any cell"):
        mf.Scene(scene.ground, (blind,))


def test_unseen_cells_keep_their_prior():
    rng = np.random.default_rng(6)
    scene = random_room(rng, (3, 4), hidden=0.6)
    hidden = ~np.any([view.visible for view in scene.views], axis=0)
    assert hidden.any()
    mode = mf.mean_field(mf.Occupancy(scene, random_masks(rng, scene)))
    np.testing.assert_allclose(mode.marginals.reshape(-1, 2)[hidden, 1], 0.1, rtol=1e-6)
