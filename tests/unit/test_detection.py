"""People in several ways: criteria, seeded clamps, positions, and the whole job on synthetic rooms."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from rooms import seen

import mixfield as mf
from mixfield.apps.detection import positions
from mixfield.criteria.neighbourhood import apart, box_sums
from mixfield.errors import MixfieldError
from mixfield.scene import Ground
from mixfield.scene.view import View
from mixfield.solvers.mode import Mode

SOLVER = mf.Solver(tolerance=1e-4, max_iterations=300)


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


def test_box_sums_are_sums():
    values = np.random.default_rng(0).normal(size=(5, 7))
    sums = box_sums(values, 2)
    for y, x in np.ndindex(5, 7):
        assert sums[y, x] == pytest.approx(values[max(0, y - 2) : y + 3, max(0, x - 2) : x + 3].sum())


def test_apart_keeps_its_distance():
    ranked = np.array([0, 1, 11, 22, 99, 98])
    assert apart(ranked, 2.0, (10, 10), 10).tolist() == [0, 22, 99]
    assert apart(ranked, 1.2, (10, 10), 2).tolist() == [0, 11]


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
    "criterion", ["field", "neighbourhood", "paper", mf.criteria.FieldRanked(radius=2, proposals=2)]
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
        solver = mf.Solver(tolerance=1e-4, max_iterations=300, threads=threads)
        _quiet_detect(walk.scene, walk.masks[0], solver=solver).save(tmp_path / f"{threads}.npz")
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()


def test_an_empty_frame_is_empty():
    walk = mf.datasets.walking_people(0, 2, 1, noise=0.0)
    posterior = _quiet_detect(walk.scene, walk.masks[0])
    assert len(positions(posterior.modes[0], walk.scene)) == 0


def test_unknown_criterion_is_named():
    walk = mf.datasets.walking_people(1, 1, 1)
    with pytest.raises(MixfieldError, match="field, neighbourhood, paper"):
        mf.detect(walk.scene, walk.masks[0], criterion="best")
    with pytest.raises(MixfieldError, match="low < high"):
        mf.criteria.NeighbourhoodEntropy(low=0.7, high=0.3)


def _leaf_proposals(criterion, walk, frame=0):
    found = []

    class Spy:
        def propose(self, leaf):
            found.append((leaf, list(criterion.propose(leaf))))
            return iter(found[-1][1])

    _quiet_detect(walk.scene, walk.masks[frame], 2, criterion=Spy())
    return found[0]


def test_field_ranked_proposes_places_best_first():
    walk = mf.datasets.walking_people(4, 2, 1, rng=5)
    leaf, proposals = _leaf_proposals(mf.criteria.FieldRanked(radius=1, reach=3, additions=4, proposals=20), walk)
    scores = [proposal.score for proposal in proposals]
    assert scores == sorted(scores, reverse=True)
    occupied = leaf.q[:, 1] > 0.5
    additions = [p.constraint.group for p in proposals if not occupied[p.constraint.group].any()]
    removals = [p.constraint.group for p in proposals if occupied[p.constraint.group].any()]
    assert len(additions) == 4
    assert len(removals) == occupied.sum()
    # a place that is occupied holds one occupied cell, its own, and no cell belongs to two
    assert all(occupied[group].sum() == 1 and occupied[group[0]] for group in removals)
    assert len(np.concatenate(removals)) == len(set(np.concatenate(removals).tolist()))


def test_field_ranked_stays_within():
    walk = mf.datasets.walking_people(4, 2, 1, rng=5)
    within = np.zeros(walk.scene.ground.shape, bool)
    within[:12] = True
    _, proposals = _leaf_proposals(mf.criteria.FieldRanked(within=within.ravel(), proposals=30), walk)
    assert all(within.ravel()[p.constraint.group[0]] for p in proposals)


@pytest.mark.parametrize(
    "changed",
    [
        {"radius": 2},
        {"reach": 1},
        {"clear": 6.0},
        {"spacing": 8.0},
        {"additions": 1},
        {"removals": 1},
        {"updates": 1},
        {"proposals": 3},
    ],
)
def test_every_option_of_field_ranked_matters(changed):
    walk = mf.datasets.walking_people(4, 2, 1, rng=5)
    plain, other = ({"proposals": 30}, {"proposals": 30} | changed)

    def proposals(options):
        return [
            (p.constraint.group.tolist(), p.score) for p in _leaf_proposals(mf.criteria.FieldRanked(**options), walk)[1]
        ]

    assert proposals(plain) != proposals(other)


def test_seeded_clamps_hold_without_spreading():
    """'At least one here' puts one person there, not a little of everybody."""
    scene = mf.datasets.walking_people(1, 1, 1).scene
    energy = mf.Occupancy(scene, [np.zeros((144, 192))])
    group = np.array([24 * y + x for y in range(10, 14) for x in range(10, 14)])
    from mixfield.constraints.cell import Cell
    from mixfield.constraints.clamp import settle

    cell = Cell(np.ones((scene.ground.n, 2), bool)).cut(mf.constraints.Cardinality(group, np.array(1), 1))
    clamp = mf.constraints.Clamp(seeded=True, bisections=0)
    held = settle(energy, cell, energy.start.reshape(1, -1, 2), solver=SOLVER, clamp=clamp)
    assert len(held.log_z) == 1
    occupied = held.q[0, group, 1]
    assert occupied.max() > 0.999
    assert occupied.sum() < 1.1
    assert cell.mass(held.q[0]) >= 1 - 1e-4


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
    """Two cameras, four people, occlusion and noise: at least half of the cases (seeded, 40 frames)."""

    def is_true(mode, scene, truth):
        score = mf.metrics.total(mf.metrics.detection_scores([truth], [positions(mode, scene)], 0.5))
        return score.misses == score.false_positives == 0

    wrong = hit = 0
    for seed in range(4):
        walk = mf.datasets.walking_people(4, 2, 10, rng=seed)
        for masks, truth in zip(walk.masks, walk.truth, strict=True):
            single = mf.mean_field(mf.Occupancy(walk.scene, masks), solver=SOLVER)
            if not is_true(single, walk.scene, truth):
                wrong += 1
                modes = _quiet_detect(walk.scene, masks).modes
                hit += any(is_true(mode, walk.scene, truth) for mode in modes)
    assert wrong >= 5
    assert hit >= 0.5 * wrong


def test_walking_people():
    walk = mf.datasets.walking_people(3, 4, 5, rng=7)
    assert walk.masks.shape == (5, 4, 144, 192)
    assert walk.truth.shape == (5, 3, 2)
    again = mf.datasets.walking_people(3, 4, 5, rng=7)
    np.testing.assert_array_equal(walk.masks, again.masks)
    gaps = np.linalg.norm(walk.truth[:, :, None] - walk.truth[:, None], axis=-1) + 9 * np.eye(3)
    assert gaps.min() > 0.5
    clean = mf.datasets.walking_people(3, 4, 5, noise=0.0, rng=7)
    quiet = np.mean(clean.masks[0, 0])
    assert 0 < quiet < 0.2
    assert mf.datasets.walking_people(3, 4, 1, setting="easy", rng=7).scene.views[0].boxes.tolist() != (
        clean.scene.views[0].boxes.tolist()
    )
    assert mf.datasets.walking_people(1, 1, 1, cell=0.5).scene.ground.shape == (12, 12)
    for wrong in ({"setting": "hard"}, {"n_cameras": 5}, {"noise": 0.6}, {"n_people": -1}, {"n_frames": 0}):
        with pytest.raises(MixfieldError, match=next(iter(wrong))):
            mf.datasets.walking_people(**wrong)
