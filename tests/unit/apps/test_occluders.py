"""Occluders learnt from masks of people who walk behind a post."""

from __future__ import annotations

import numpy as np
import pytest
from rooms import seen

import mixfield as mf
from mixfield.apps import learn_occluders
from mixfield.apps.occluders import _beside, hidden_pixels
from mixfield.errors import MixfieldError
from mixfield.scene.view import View


@pytest.fixture(scope="module")
def room():
    return mf.datasets.walking_people(0, 1, 1, setting="easy").scene


@pytest.fixture(scope="module")
def post(room):
    """A post of half the width of a person in the middle of the picture."""
    hidden = np.zeros((room.views[0].height, room.views[0].width), bool)
    hidden[40:110, 90:100] = True
    return hidden


@pytest.fixture(scope="module")
def recording(room, post):
    """People at random cells, two in each frame, and their masks behind the post."""
    rng = np.random.default_rng(0)
    people = [rng.choice(room.ground.n, 2, replace=False) for _ in range(300)]
    return people, [[seen(room, cells)[0] & ~post] for cells in people]


def test_the_post_is_found_and_nothing_else(room, post, recording):
    hidden = learn_occluders(room, recording[1]).views[0].observed == 0
    assert (hidden & post).sum() > 0.8 * post.sum()
    assert (hidden & ~post).sum() < 0.1 * post.sum()


def test_people_behind_the_post_are_found(room, post, recording):
    """Cells of whose boxes a third or more is hidden: fewer of these people are missed."""
    fitted, missed = learn_occluders(room, recording[1]), {"given": 0, "learnt": 0}
    for cells, masks in zip(*recording, strict=True):
        behind = [
            n
            for n in cells
            if post[slice(*room.views[0].boxes[n, 1::2]), slice(*room.views[0].boxes[n, ::2])].mean() > 0.33
        ]
        if not behind:
            continue
        truth = {0: room.ground.centres().reshape(-1, 2)[behind]}
        for name, scene in (("given", room), ("learnt", fitted)):
            found = mf.positions(mf.mean_field(mf.Occupancy(scene, masks)), scene)
            missed[name] += mf.metrics.detection_scores(truth, {0: found}, 0.5)[0].misses
    assert missed["learnt"] < 0.5 * missed["given"]


def test_without_an_occluder_all_pixels_are_observed(room, recording):
    masks = [seen(room, cells) for cells in recording[0]]
    assert (learn_occluders(room, masks).views[0].observed == 1).mean() > 0.998


def test_pixels_that_are_hidden_stay_hidden(room, post, recording):
    view = room.views[0]
    given = View(view.width, view.height, view.boxes, view.name, 1.0 - np.pad(post[5:], ((0, 5), (0, 0))))
    learnt = learn_occluders(mf.Scene(room.ground, (given,), room.prior), recording[1][:150])
    assert (learnt.views[0].observed <= given.observed).all()


def test_an_empty_recording_hides_nothing(room):
    view = room.views[0]
    assert not hidden_pixels(np.zeros((view.height, view.width)), view).any()


def test_beside_is_the_smaller_of_both_sides():
    values = np.random.default_rng(1).random(20)
    for x, found in enumerate(_beside(values, 4)):
        assert found == min(values[max(0, x - 4) : x].max(initial=0), values[x + 1 : x + 5].max(initial=0))


def test_frames_without_masks_of_all_views_are_refused(room):
    with pytest.raises(MixfieldError, match="at least one frame"):
        learn_occluders(room, [])
    with pytest.raises(MixfieldError, match=r"one mask per view \(1\) each, got 0"):
        learn_occluders(room, [[]])
