"""The pages of people and of tracks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from page_examples import people
from page_reading import HOSTILE, escaped_count, facts_of

import mixfield as mf
from experiments.tracking.doubts import doubtful_walk
from mixfield.errors import MixfieldError
from mixfield.reports.people_page import _ground, common_positions, people_page, tracks_page
from mixfield.reports.track_table import TrackTable
from mixfield.scene.ground import Ground


def test_people_without_pictures_and_tracks():
    walk = mf.datasets.walking_people(n_people=1, n_frames=1)
    post = mf.detect(walk.scene, list(walk.masks[0]), 2)
    facts = facts_of(people_page({4: post}, walk.scene))
    assert facts["cameras"] == facts["tracks"] == []
    assert facts["frames"][0]["number"] == 4
    with pytest.raises(MixfieldError, match="at least one"):
        people_page({}, walk.scene)


def test_positions_boxes_and_tracks():
    page, posteriors, tracks, scene = people()
    facts = facts_of(page)
    for frame, (number, posterior) in zip(facts["frames"], sorted(posteriors.items()), strict=True):
        assert frame["number"] == number
        found = [mf.positions(mode, scene) for mode in posterior.modes]
        shared = common_positions(found)
        for shown, positions in zip(frame["people"], found, strict=True):
            np.testing.assert_allclose([row[:2] for row in shown], positions, atol=5e-4)
            assert [bool(row[2]) for row in shown] == [tuple(position) in shared for position in positions]
        assert all(len(box) == 6 and box[3] > box[1] for boxes in frame["boxes"] for box in boxes)
    with pytest.raises(MixfieldError, match="tracks must have the frames of posteriors, 1, got 5"):
        people_page({10: posteriors[10]}, scene, tracks=TrackTable.of(tracks))
    assert "Green people" in page
    assert "Green people" not in tracks_page(tracks)
    alone = facts_of(tracks_page(tracks))
    assert alone["tracks"] == facts["tracks"]
    assert [frame["chosen"] for frame in alone["frames"]] == tracks.chosen_modes.tolist()
    assert [frame["weights"] for frame in alone["frames"]] == [frame["weights"] for frame in facts["frames"]]


def test_common_positions():
    assert common_positions([np.array([(0.0, 1.0), (2.0, 3.0)]), np.array([(2.0, 3.0)])]) == {(2.0, 3.0)}
    assert common_positions([np.empty((0, 2)), np.array([(2.0, 3.0)])]) == set()


def test_a_tracks_page_holds_every_track_and_loads_nothing():
    walk = doubtful_walk(12, shape=(20, 20), people=4, rng=5)
    tracks = mf.track(walk.posteriors, walk.ground)
    page = tracks_page(tracks, title="a < b")
    assert "a &lt; b" in page
    assert {identity: len(places) for identity, _, places in facts_of(page)["tracks"]} == {
        identity: len(rows) for identity, rows in tracks.by_identity.items()
    }
    assert "<script src" not in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")


def test_hostile_titles_cameras_and_units_are_escaped():
    walk = mf.datasets.walking_people(n_people=1, n_cameras=1, n_frames=2)
    scene = replace(walk.scene, views=tuple(replace(view, name=HOSTILE) for view in walk.scene.views))
    posts = {t: mf.detect(scene, list(masks), 1) for t, masks in enumerate(walk.masks)}
    found = mf.track(posts.values(), scene)
    table = replace(TrackTable.of(found), summary={"median_speed": 1.0, "speed_unit": HOSTILE, "cost": HOSTILE})
    pictures = {t: list(masks) for t, masks in enumerate(walk.masks)}
    page = people_page(posts, scene, pictures=pictures, tracks=table, title=HOSTILE)
    assert escaped_count(page) == 7  # two titles, three names of the camera, two numbers
    assert facts_of(page)["cameras"][0]["name"] == HOSTILE


def test_the_area_of_interest_is_in_metres():
    interest = np.zeros((6, 12), bool)
    interest[3:5, 2:9] = True
    facts = _ground(Ground((6, 12), 0.5, (-1.0, 2.0)), interest)
    assert facts == {"cell": 0.5, "interest": [0.0, 3.5, 3.5, 1.0]}
