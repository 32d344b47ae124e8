"""Places to cut people at: the best first, apart from each other, and within the region that is seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from leaves import leaf_of

import mixfield as mf
from mixfield.criteria.field_ranked import place_radius
from mixfield.mixture.tree import breadth_first
from mixfield.scene import Ground
from mixfield.scene.view import View


@pytest.fixture(scope="module")
def walk():
    return mf.datasets.walking_people(4, 2, 1, rng=5)


@pytest.fixture(scope="module")
def leaf(walk):
    return leaf_of(mf.Occupancy(walk.scene, walk.masks[0]))


def _proposals(leaf, **options):
    return list(mf.criteria.FieldRanked(**options).propose(leaf))


def test_places_come_best_first(leaf):
    proposals = _proposals(leaf, radius=1, reach=3, additions=4, proposals=20)
    scores = [proposal.score for proposal in proposals]
    assert scores == sorted(scores, reverse=True)
    occupied = leaf.q[:, 1] > 0.5
    additions = [p.constraint.group for p in proposals if not occupied[p.constraint.group].any()]
    removals = [p.constraint.group for p in proposals if occupied[p.constraint.group].any()]
    assert len(additions) == 4
    assert len(removals) == occupied.sum() > 0
    # a place that is occupied holds one occupied cell, its own, and no cell belongs to two
    assert all(occupied[group].sum() == 1 and occupied[group[0]] for group in removals)
    assert len(np.concatenate(removals)) == len(set(np.concatenate(removals).tolist()))
    assert all(p.constraint.count == 1 and set(p.constraint.labels.tolist()) == {1} for p in proposals)


def test_places_stay_within(leaf, walk):
    within = np.zeros(walk.scene.ground.shape, bool)
    within[:12] = True
    proposals = _proposals(leaf, within=within.ravel(), proposals=30)
    assert proposals
    assert all(within.ravel()[p.constraint.group[0]] for p in proposals)


def test_changes_of_the_number_of_people_come_first(leaf):
    """Long runs with each proposal flipped: at first they end with more or fewer people, then with as many."""
    ranked = mf.criteria.FieldRanked(updates=60, proposals=30, count_first=True)
    proposals, occupied = list(ranked.propose(leaf)), leaf.q[:, 1] > 0.5
    groups = [p.constraint.group for p in proposals]
    flipped = ranked.try_flips(leaf, groups, np.array([occupied[group].any() for group in groups]))
    changed = (flipped[..., 1] > 0.5).sum(1) != occupied.sum()
    assert 0 < changed.sum() < len(changed)
    assert changed.tolist() == sorted(changed, reverse=True)
    for part in (changed, ~changed):
        scores = [p.score for p, here in zip(proposals, part, strict=True) if here]
        assert scores == sorted(scores, reverse=True)


def test_a_place_is_cut_once(walk):
    """With ``count_first``, the places of a half of a cut keep their distance from it."""
    criterion = mf.criteria.FieldRanked.for_scene(walk.scene, count_first=True)
    posterior = mf.infer(mf.Occupancy(walk.scene, walk.masks[0]), 4, criterion=criterion, order=breadth_first)
    shape = walk.scene.ground.shape
    for mode in posterior.modes:
        first, second = (np.stack(np.unravel_index(c.group, shape), axis=-1) for c in mode.constraints)
        assert np.linalg.norm(first[:, None] - second[None, :1], axis=-1).min() > 1.5 / walk.scene.ground.cell


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
        {"count_first": True},
    ],
)
def test_every_option_matters(leaf, changed):
    def proposals(**options):
        return [(p.constraint.group.tolist(), p.score) for p in _proposals(leaf, **({"proposals": 30} | options))]

    assert proposals() != proposals(**changed)


def test_empty_places_keep_their_distances(leaf, walk):
    shape, occupied = walk.scene.ground.shape, np.flatnonzero(leaf.q[:, 1] > 0.5)
    proposals = _proposals(leaf, clear=4.0, spacing=6.0, additions=5, removals=0, proposals=30)
    places = np.stack(np.unravel_index([p.constraint.group[0] for p in proposals], shape), axis=-1).astype(float)
    people = np.stack(np.unravel_index(occupied, shape), axis=-1).astype(float)
    assert len(places) == 5
    assert np.linalg.norm(places[:, None] - people, axis=-1).min() > 4.0
    between = np.linalg.norm(places[:, None] - places, axis=-1)
    assert between[~np.eye(5, dtype=bool)].min() >= 6.0


def test_lengths_follow_the_cells_of_a_scene(walk):
    scene = walk.scene
    criterion, cell = mf.criteria.FieldRanked.for_scene(scene), scene.ground.cell
    assert criterion.radius == place_radius(scene) == max(1, round(0.35 / cell))
    assert criterion.clear * cell == pytest.approx(0.5)
    assert criterion.spacing * cell == pytest.approx(0.75)
    assert criterion.within.shape == (scene.ground.n,)
    boxes = np.array([[12 + k, 10 - k, 28 - k, 40 - 3 * k] for k in range(6)])
    line = mf.Scene(Ground((6, 1), 0.5), (View(40, 45, boxes),), prior=0.05, variance=(0.05,))
    assert place_radius(line) == mf.criteria.FieldRanked.for_scene(line).reach == 0  # no neighbours on a line


def test_without_places_nothing_is_proposed(leaf, walk):
    assert _proposals(leaf, within=np.zeros(walk.scene.ground.n, bool)) == []


def test_a_leaf_gets_the_places_of_its_parent_that_its_cut_leaves_alone(leaf, monkeypatch):
    """In the order of the parent, with scores relative to its own bound, and without a single trial."""
    ranked = mf.criteria.FieldRanked(proposals=20)
    first, *others = ranked.propose(leaf)
    cell = leaf.cell.cut(first.constraint)
    child = replace(leaf, cell=cell, log_z=leaf.log_z - 3.0, parent=leaf, inherited=others)
    with monkeypatch.context() as patch:
        patch.setattr(mf.criteria.FieldRanked, "try_flips", lambda *_: pytest.fail("nothing is tried again"))
        proposals = list(ranked.propose(child))
    assert 0 < len(proposals) < len(others)
    kept = {p.constraint.group[0]: p.score for p in proposals}
    assert list(kept) == [p.constraint.group[0] for p in others if p.constraint.group[0] in kept]
    assert all(kept[p.constraint.group[0]] == p.score - 3.0 for p in others if p.constraint.group[0] in kept)
    cut, columns = first.constraint.group, leaf.energy.shape[1]
    for proposal in proposals:
        row, column = (
            np.divmod(proposal.constraint.group[:, None], columns) - np.array(np.divmod(cut, columns))[:, None]
        )
        assert np.hypot(row, column).min() > ranked.spacing
    untried = replace(child, inherited=others[:0])
    assert [p.score for p in ranked.propose(untried)] != []
