"""One measurement per frame."""

from __future__ import annotations

import numpy as np

from experiments.annotated import AnnotatedFolder
from experiments.video.measure import measure, sequences, tasks


def test_a_frame_is_measured_with_the_one_before(clip):
    every = tasks(clip, count=2, every=1)
    assert list(every) == ["square 00", "square 01", "square 02"]
    rows = [measure(*values) for values in every.values()]
    assert [row["frame"] for row in rows] == AnnotatedFolder(clip / "video" / "davis" / "square", "dl513").names
    assert rows[0]["matched"] is None
    assert all(0 <= row["matched"] <= 1 for row in rows[1:])
    assert "steps" not in rows[0]["modes"]
    assert np.shape(rows[1]["modes"]["steps"]) == (len(rows[0]["modes"]["log_z"]), len(rows[1]["modes"]["log_z"]))


def test_a_measurement_does_not_depend_on_those_before(clip):
    last = tasks(clip, count=2, every=1)["square 02"]
    first = measure(*last)
    for values in tasks(clip, count=2, every=1).values():
        again = measure(*values)
    assert again == first


def test_a_video_may_be_reduced_and_thinned(clip):
    row = measure(*tasks(clip, count=2, every=1, step=2)["square 01"])
    assert np.sum(row["modes"]["counts"][0]) <= 12 * 16
    assert list(tasks(clip, count=2, every=2)) == ["square 00", "square 02"]
    assert [source.net for source in sequences(clip)] == ["dl513"]
