"""The modes of a frame, linked with the frame before."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.annotated import AnnotatedFolder
from experiments.video.frame import Frame, LinkedFrame


@pytest.fixture
def frames(clip):
    source = AnnotatedFolder(clip / "video" / "davis" / "square", "dl513")
    return [Frame(source.load(name), 2) for name in source.names[:2]]


def test_the_first_frame_has_nothing_to_follow(frames):
    first = LinkedFrame.link(frames[0], None)
    assert first.matches is None
    assert first.posteriors["carried"] is first.posteriors["modes"]
    row = first.row(2, None)
    assert row["matched"] is None
    assert "steps" not in row["modes"]


def test_changes_from_every_mode_to_every_mode(frames):
    first, second = LinkedFrame.link(frames[0], None), LinkedFrame.link(frames[1], frames[0])
    row = second.row(2, first)
    assert 0 <= row["matched"] <= 1
    for name in ("modes", "clamped", "carried"):
        shape = len(first.posteriors[name].modes), len(second.posteriors[name].modes)
        assert np.shape(row[name]["steps"]) == shape
        assert np.sum(row[name]["counts"][0]) <= frames[1].example.truth.size
        assert row[name]["root"] == second.posteriors[name].root_mode
