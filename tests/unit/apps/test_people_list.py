"""Lists of explanations of a frame: the sets of flips of which the best is expected to have fewest mistakes."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pytest

import mixfield as mf
from mixfield.apps.people_list import Flip, best_list, distinct, frame_flips
from mixfield.criteria.field_ranked import CLEAR, SPACING, FieldRanked
from mixfield.errors import FewerModesWarning, MixfieldError
from mixfield.mixture.tree import start_tree

ODDS = np.array([[0.5, 0.1, 0.4], [0.3, 0.3, 0.4], [0.2, 0.1, 0.7], [0.6, 0.3, 0.1]])


def _expected_mistakes(odds, sets):
    """By enumeration: mistakes of the best set, beside those of the mean field."""
    total = 0.0
    for changes in itertools.product((-1, 0, 1), repeat=len(odds)):
        weight = np.prod([one[change + 1] for one, change in zip(odds, changes, strict=True)])
        total += weight * min(sum(changes[j] for j in one) for one in sets)
    return total


@pytest.fixture(scope="module")
def walk():
    return mf.datasets.walking_people(4, 2, 1, rng=5)


@pytest.fixture(scope="module")
def hidden(walk):
    """The frame without the silhouette of one person, whom its mean field misses, and the place."""
    posterior = _detect(walk.scene, walk.masks[0], 1)
    cells = np.flatnonzero(posterior.modes[0].marginals[..., 1].ravel() > 0.5)
    masks = [np.array(mask, np.float64) for mask in walk.masks[0]]
    for mask, view in zip(masks, walk.scene.views, strict=True):
        left, top, right, bottom = view.boxes[cells[-1]]
        mask[top:bottom, left:right] = 0.0
    return masks, walk.scene.ground.centres().reshape(-1, 2)[cells[-1:]]


def _detect(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mf.errors.MixfieldWarning)
        return mf.detect(*args, **options)


def _leaf(scene, masks):
    criterion = FieldRanked.for_scene(scene, count_first=True)
    return start_tree(mf.Occupancy(scene, masks), criterion=criterion).nodes[0].leaf, criterion


def test_each_set_lowers_the_expected_mistakes_most():
    sets = [one for size in range(5) for one in itertools.combinations(range(4), size)]
    chosen = best_list(ODDS, 6)
    assert len(set(chosen)) == 6
    for k, one in enumerate(chosen):
        best = min(_expected_mistakes(ODDS, [*chosen[:k], other]) for other in sets if other not in chosen[:k])
        assert _expected_mistakes(ODDS, [*chosen[:k], one]) == pytest.approx(best)


def test_a_greedy_list_is_nearly_the_best():
    """Of the gain of the best list of three, which enumeration finds, it has at least 1 - 1/e."""
    sets = [one for size in range(5) for one in itertools.combinations(range(4), size)]
    best = min(_expected_mistakes(ODDS, lists) for lists in itertools.combinations(sets, 3))
    worst = len(ODDS)  # mistakes of the worst set
    found = _expected_mistakes(ODDS, best_list(ODDS, 3))
    assert best <= found
    assert worst - found >= (1 - np.exp(-1)) * (worst - best)


def test_doubtful_flips_are_combined_and_likely_ones_are_in_all():
    doubtful, likely = [0.4, 0.2, 0.4], [0.98, 0.01, 0.01]
    assert sorted(best_list(np.array([doubtful, doubtful]), 4)) == [(), (0,), (0, 1), (1,)]
    assert all(0 in one for one in best_list(np.array([likely, doubtful, doubtful]), 4))
    assert best_list(np.zeros((0, 3)), 4) == [()]


def test_what_flips_are_likely_right():
    flip = Flip(np.arange(3), occupied=False, cost=1.0, moves=False)
    for sharpness in (0.0, 0.5, 1.0):
        odds = flip.odds(sharpness)
        assert odds.sum() == pytest.approx(1.0)
        dear = replace(flip, cost=8.0).odds(sharpness)
        supported = replace(flip, expected=True).odds(sharpness)
        assert dear[2] / dear[0] > odds[2] / odds[0] > supported[2] / supported[0]
        assert replace(flip, moves=True).odds(sharpness)[1] > odds[1]
        assert replace(flip, expected=False).odds(sharpness) == pytest.approx(odds)
    assert not np.allclose(flip.odds(0.0), replace(flip, occupied=True).odds(0.0))


@pytest.mark.parametrize("occupied", [False, True])
def test_both_sides_of_a_flip(occupied):
    flip = Flip(np.arange(3), occupied=occupied, cost=1.0, moves=False)
    somebody = np.array([0, 1, 0])
    assert flip.constraint(True).holds(somebody) == (not occupied)
    assert flip.constraint(False).holds(somebody) == occupied


def test_flips_are_apart_and_most_likely_first(walk):
    leaf, criterion = _leaf(walk.scene, walk.masks[0])
    flips = frame_flips(leaf, criterion, walk.scene, None)
    chosen = distinct(flips, mf.Occupancy(walk.scene, walk.masks[0]))
    centres = walk.scene.ground.centres().reshape(-1, 2)[[one.group[0] for one, _ in chosen]]
    between = np.linalg.norm(centres[:, None] - centres, axis=-1)
    assert len(chosen) > 1
    assert between[~np.eye(len(chosen), dtype=bool)].min() > 2 * SPACING
    right = [odds[0] for _, odds in chosen]
    assert right == sorted(right, reverse=True)


def test_an_expected_person_is_proposed_where_nobody_is_found(walk, hidden):
    masks, place = hidden
    leaf, criterion = _leaf(walk.scene, masks)
    centres = walk.scene.ground.centres().reshape(-1, 2)
    found = centres[leaf.q[:, 1] > 0.5]
    assert np.linalg.norm(found - place, axis=-1).min() > CLEAR
    flips = frame_flips(leaf, criterion, walk.scene, np.concatenate([place, found]))
    expected = [flip for flip in flips if flip.expected and not flip.occupied]
    assert [centres[flip.group[0]].tolist() for flip in expected] == place.tolist()
    assert all(flip.expected for flip in flips if flip.occupied)
    empty = frame_flips(leaf, criterion, walk.scene, np.zeros((0, 2)))
    assert not any(flip.expected for flip in empty)


def test_a_mode_has_the_expected_person(walk, hidden):
    masks, place = hidden

    def nearest(**options):
        modes = _detect(walk.scene, masks, 4, criterion="count", **options).modes
        found = [mf.positions(mode, walk.scene) for mode in modes]
        return min(np.linalg.norm(points - place, axis=-1).min() for points in found if len(points))

    assert nearest(expected=place) <= 0.5 < nearest()


def test_modes_live_in_cells_that_do_not_overlap(walk):
    posterior = _detect(walk.scene, walk.masks[0], 4, criterion="count")
    assert len(posterior.modes) == 4
    assert [mode.log_z for mode in posterior.modes] == sorted((m.log_z for m in posterior.modes), reverse=True)
    for mode in posterior.modes:
        labeling = mode.labeling().ravel()
        assert mode.mass_inside >= 1 - 1e-4 * len(mode.constraints)
        inside = [all(c.holds(labeling) for c in other.constraints) for other in posterior.modes]
        assert sum(inside) == 1


def test_the_same_whatever_the_threads(walk, tmp_path):
    for threads in (1, 2):
        solver = mf.Solver(threads=threads)
        _detect(walk.scene, walk.masks[0], criterion="count", solver=solver).save(tmp_path / f"{threads}.npz")
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()


def test_fewer_modes_are_said(walk):
    flat = replace(walk.scene, region=np.zeros(walk.scene.ground.shape, bool))
    with pytest.warns(FewerModesWarning, match="1 modes instead of 3"):
        posterior = mf.detect(flat, walk.masks[0], 3, criterion="count")
    assert len(posterior.modes) == 1


def test_wrong_expectations_are_refused(walk):
    with pytest.raises(MixfieldError, match="criterion='count'"):
        mf.detect(walk.scene, walk.masks[0], expected=np.zeros((1, 2)))
    with pytest.raises(MixfieldError, match="shape \\(k, 2\\)"):
        mf.detect(walk.scene, walk.masks[0], criterion="count", expected=np.zeros((2, 3)))
