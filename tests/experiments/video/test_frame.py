"""The modes of a frame, compared with the frame before."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.annotated import AnnotatedFolder
from experiments.video.frame import Frame


@pytest.fixture
def frames(clip):
    source = AnnotatedFolder(clip / "video" / "davis" / "square", "dl513")
    return [Frame(source.load(name), 2) for name in source.names[:2]]


def test_the_first_frame_has_no_changes(frames):
    row = frames[0].row(2)
    assert row["matched"] is None
    assert "steps" not in row["modes"]


def test_changes_from_every_mode_to_every_mode(frames):
    first, second = frames
    row = second.row(2, first)
    assert 0 <= row["matched"] <= 1
    for name in ("modes", "clamped"):
        shape = len(first.posteriors[name].modes), len(second.posteriors[name].modes)
        assert np.shape(row[name]["steps"]) == shape
        assert np.sum(row[name]["counts"][0]) <= second.example.truth.size
        assert row[name]["root"] == second.posteriors[name].root_mode
