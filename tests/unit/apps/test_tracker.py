"""mf.Tracker: the answer of mf.track, with a lag and in constant memory."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import mixfield as mf
from experiments.tracking.doubts import doubtful_walk
from mixfield.apps.tracker import RECORD
from mixfield.errors import MixfieldError
from mixfield.scene import Ground

LAG = 20


@pytest.fixture(scope="module")
def walk():
    return doubtful_walk(70, shape=(16, 16), people=4, rng=3)


def streamed(tracker, frames):
    segments = [segment for frame in frames for segment in tracker.update(frame)]
    return segments + tracker.finish()


def test_a_stream_has_the_tracks_of_the_whole_with_the_same_lag(walk):
    segments = streamed(mf.Tracker(walk.ground, lag=LAG, frame_rate=5.0), walk.posteriors)
    offline = mf.track(walk.posteriors, walk.ground, windows=mf.temporal.Windows.of_lag(LAG), frame_rate=5.0)
    table = np.sort(np.concatenate([one.table for one in segments]), order=("identity", "frame"))
    np.testing.assert_array_equal(table, offline.table)
    np.testing.assert_array_equal(np.concatenate([one.chosen_modes for one in segments]), offline.chosen_modes)
    assert sum(one.cost for one in segments) == pytest.approx(offline.cost)
    assert [one.first for one in segments[1:]] == [one.stop for one in segments[:-1]]


@pytest.mark.parametrize(("kind", "wait"), [("posteriors", LAG), ("detections", LAG + 7)])
def test_no_frame_waits_longer_than_the_lag(walk, kind, wait):
    frames = walk.posteriors if kind == "posteriors" else [np.array([[3.1, 2.2, 0.9]])] * 70
    tracker, final = mf.Tracker(walk.ground, lag=LAG), 0
    for t, frame in enumerate(frames):
        for segment in tracker.update(frame):
            final = segment.stop
        assert t - final < wait + 1
    assert final > 0
    assert tracker.finish()[-1].stop == 70


def test_a_segment_has_the_records_of_its_frames(walk):
    for segment in streamed(mf.Tracker(walk.ground, lag=LAG), walk.posteriors):
        assert segment.table.dtype == RECORD
        assert ((segment.table["frame"] >= segment.first) & (segment.table["frame"] < segment.stop)).all()


def test_frames_that_are_final_are_forgotten():
    """The maps of no more than a window and its look-ahead stay in memory, however long the stream."""
    tracker, alive = mf.Tracker(Ground((6, 6), 0.5), lag=LAG), []
    most = 0
    for _ in range(200):
        q = np.full((6, 6), 0.01)
        posterior = mf.MixturePosterior((mf.Mode(np.stack([1 - q, q], -1), 0.0),))
        tracker.update(posterior)
        alive.append(weakref.ref(tracker._open[-1]))
        gc.collect()
        most = max(most, sum(one() is not None for one in alive))
    assert most <= LAG + 1


def test_nothing_after_the_end(walk):
    tracker = mf.Tracker(walk.ground, lag=LAG)
    assert tracker.finish() == []


@pytest.mark.parametrize(
    ("options", "sentence"),
    [({"lag": 1}, "lag must be"), ({"nodes": 0}, "nodes must be"), ({"time_limit": 0.0}, "time_limit must be")],
)
def test_wrong_options_are_named(options, sentence):
    with pytest.raises(MixfieldError, match=sentence):
        mf.Tracker(Ground((4, 4), 0.5), **options)


def test_people_appear_anywhere_in_detections_and_at_the_border_in_posteriors():
    maps = np.full((20, 9, 9), 1e-3)
    maps[5:15, 4, 4] = 0.95  # somebody in the middle of the ground, in the middle of the sequence
    posteriors = [mf.MixturePosterior((mf.Mode(np.stack([1 - q, q], -1), 0.0),)) for q in maps]
    ground = Ground((9, 9), 0.5)
    for frames, found in ((maps, 10), (posteriors, 0)):
        segments = streamed(mf.Tracker(ground, lag=LAG), frames)
        assert sum(len(one.table) for one in segments) == len(mf.track(frames, ground).table) == found
    border = mf.track(maps, ground, doors="border").table  # unseen before and after
    assert (border["frame"].min(), border["frame"].max()) == (0, 19)
    assert len(mf.track(posteriors, ground, doors="anywhere").table) == 10
