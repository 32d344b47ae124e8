"""FieldRanked: proposals for people that are nearly detected, or nearly not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mixfield as mf


def _quiet_detect(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mf.errors.MixfieldWarning)
        return mf.detect(*args, **options)


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
