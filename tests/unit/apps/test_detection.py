"""mf.detect and mf.positions on small and synthetic scenes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from rooms import seen

import mixfield as mf
from mixfield.apps.detection import positions
from mixfield.errors import MixfieldError
from mixfield.scene import Ground
from mixfield.scene.view import View
from mixfield.solvers.mode import Mode


@pytest.fixture(scope="module")
def hidden():
    """Two people in line with the only camera: the one behind shows a little above the other.

    Cells 0..5 recede from the camera: each box is a little higher and smaller than the one before it.
    """
    boxes = np.array([[12 + k, 10 - k, 28 - k, 40 - 3 * k] for k in range(6)])
    scene = mf.Scene(Ground((6, 1), 0.5), (View(40, 45, boxes),), prior=0.05, variance=(0.05,))
    return scene, seen(scene, [0, 4])


def _quiet_detect(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mf.errors.MixfieldWarning)
        return mf.detect(*args, **options)


def test_modes_of_a_hidden_person(hidden):
    scene, masks = hidden
    posterior = _quiet_detect(scene, masks, 4)
    people = [tuple(np.flatnonzero(mode.labeling().ravel())) for mode in posterior.modes]
    assert len(set(people)) == len(people) > 1
    energy = mf.Occupancy(scene, masks)
    best = min(range(64), key=lambda s: energy.of(np.array([s >> k & 1 for k in range(6)]).reshape(6, 1)))
    assert tuple(k for k in range(6) if best >> k & 1) in people


def test_every_mode_lives_in_its_cell_and_cells_do_not_overlap():
    walk = mf.datasets.walking_people(4, 2, 2, rng=3)
    posterior = _quiet_detect(walk.scene, walk.masks[1], 4)
    assert len(posterior.modes) == 4
    assert posterior.weights.sum() == pytest.approx(1.0)
    for mode in posterior.modes:
        assert mode.mass_inside >= 1 - 1e-4 * len(mode.constraints)
    for k, mode in enumerate(posterior.modes):
        for other in posterior.modes[k + 1 :]:
            inside = [c.holds(mode.labeling().ravel()) for c in other.constraints]
            assert not all(inside)


@pytest.mark.parametrize(
    "criterion", ["field", "count", "neighbourhood", "paper", mf.criteria.FieldRanked(radius=2, proposals=2)]
)
def test_every_criterion_gives_a_mixture(criterion):
    walk = mf.datasets.walking_people(3, 1, 1, rng=2)
    posterior = _quiet_detect(walk.scene, walk.masks[0], 3, criterion=criterion)
    assert 1 <= len(posterior.modes) <= 3
    assert posterior.shape == walk.scene.ground.shape
    assert np.isfinite(posterior.log_z)


def test_same_seed_same_bytes_whatever_the_threads(tmp_path):
    walk = mf.datasets.walking_people(3, 2, 1, rng=4)
    for threads in (1, 2):
        solver = mf.Solver(threads=threads)
        _quiet_detect(walk.scene, walk.masks[0], solver=solver).save(tmp_path / f"{threads}.npz")
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()


def test_an_empty_frame_is_empty():
    walk = mf.datasets.walking_people(0, 2, 1, noise=0.0)
    posterior = _quiet_detect(walk.scene, walk.masks[0])
    assert len(positions(posterior.modes[0], walk.scene)) == 0


def test_unknown_criterion_is_named():
    walk = mf.datasets.walking_people(1, 1, 1)
    with pytest.raises(MixfieldError, match="field, count, neighbourhood, paper"):
        mf.detect(walk.scene, walk.masks[0], criterion="best")


def _mode(scene, cells):
    p = np.zeros(scene.ground.shape)
    for place, value in cells.items():
        p[place] = value
    return Mode(np.stack([1 - p, p], axis=-1), 0.0)


def test_positions():
    scene = mf.datasets.walking_people(1, 1, 1).scene
    region = np.zeros(scene.ground.shape, bool)
    region[:20] = True
    scene = mf.Scene(scene.ground, scene.views, region=region)
    mode = _mode(scene, {(2, 3): 0.9, (2, 4): 0.6, (10, 10): 0.3, (10, 11): 0.4, (22, 3): 1.0, (15, 15): 0.2})
    raw = positions(mode, scene)
    assert raw.tolist() == [[0.875, 0.625], [1.125, 0.625]]
    assert len(positions(mode, scene, threshold=0.35)) == 3
    merged = positions(mode, scene, one_per_person=True)
    assert len(merged) == 2
    np.testing.assert_allclose(merged[0], [(0.9 * 0.875 + 0.6 * 1.125) / 1.5, 0.625])
    np.testing.assert_allclose(merged[1], [(0.3 * 2.625 + 0.4 * 2.875) / 0.7, 2.625])
    with pytest.raises(MixfieldError, match="shape of the ground"):
        positions(Mode(np.full((3, 3, 2), 0.5), 0.0), scene)


def test_true_configuration_is_often_a_mode_where_mean_field_is_wrong():
    """Two cameras, four people, occlusion and noise: at least half of the cases (seeded, 80 frames)."""

    def is_true(mode, scene, truth):
        score = mf.metrics.total(mf.metrics.detection_scores([truth], [positions(mode, scene)], 0.5))
        return score.misses == score.false_positives == 0

    wrong = hit = 0
    for seed in range(8):
        walk = mf.datasets.walking_people(4, 2, 10, rng=seed)
        for masks, truth in zip(walk.masks, walk.truth, strict=True):
            single = mf.mean_field(mf.Occupancy(walk.scene, masks))
            if not is_true(single, walk.scene, truth):
                wrong += 1
                modes = _quiet_detect(walk.scene, masks).modes
                hit += any(is_true(mode, walk.scene, truth) for mode in modes)
    assert wrong >= 5
    assert hit >= 0.5 * wrong
