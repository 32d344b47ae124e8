"""Frames of a video: their modes, loaded one after the other."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.cli.video_frames import MODES, SegmentFrame, load_frames


class Frame:
    def __init__(self, name, scores):
        self.name, self.scores = name, scores


class Source:
    def picture(self, _frame):
        return np.zeros((6, 8), np.uint8)


@pytest.fixture
def frame(tmp_path):
    scores = np.random.default_rng(0).uniform(0.2, 0.8, (6, 8, 2)).astype(np.float32)
    np.save(tmp_path / "one.npy", scores)
    return Frame("one", tmp_path / "one.npy")


def test_modes_are_saved_and_loaded(frame, tmp_path):
    work = SegmentFrame(Source(), 2, {}, False, 0, 1)
    facts = work(frame, tmp_path)
    assert facts["seconds"] > 0
    frames = load_frames(work, [Frame("gone", None), frame], tmp_path / MODES, {"one": facts})
    *nothing, gone = next(frames)
    assert nothing == [None, None, None]
    assert (gone.name, gone.image) == ("gone", None)
    image, posterior, scores, pending = next(frames)
    assert image.shape == posterior.shape == (6, 8)
    given = np.load(frame.scores)
    assert scores == pytest.approx(given / given.sum(-1, keepdims=True), abs=1e-6)
    assert pending.name == "one"
    np.testing.assert_array_equal(pending.labelings, posterior.labelings())
    np.testing.assert_array_equal(pending.mean_field, posterior.modes[posterior.root_mode].labeling())
    assert next(frames, None) is None


def test_settings_name_what_modes_depend_on():
    default = SegmentFrame(Source(), 2, {}, False, 0, None)
    assert default.settings() == SegmentFrame(Source(), 2, {}, False, 0, 4).settings()
    for changed in (
        SegmentFrame(Source(), 3, {}, False, 0, None),
        SegmentFrame(Source(), 2, {}, True, 0, None),
        SegmentFrame(Source(), 2, {}, False, 1, None),
    ):
        assert changed.settings() != default.settings()
