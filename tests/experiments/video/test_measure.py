"""One measurement per sequence and field."""

from __future__ import annotations

import numpy as np

from experiments.video.measure import measure, sequences, tasks


def test_a_sequence_is_measured(clip):
    every = tasks(clip, count=2, every=1, step=1)
    assert list(every) == ["model square", "deeplab square"]
    row = measure(*every["deeplab square"])
    assert (row["kind"], row["sequence"], row["field"], len(row["frames"])) == ("davis", "square", "deeplab", 3)
    assert [(chain["spacing"], chain["start"]) for chain in row["chains"]][:3] == [(1, 0), (2, 0), (2, 1)]
    sizes = [len(frame["counts"]) for frame in row["frames"]]
    assert [len(each) for each in row["chains"][0]["likeness"]] == sizes
    assert [np.shape(each) for each in row["chains"][0]["gains"]] == [(sizes[0], sizes[1]), (sizes[1], sizes[2])]


def test_a_video_may_be_reduced_and_thinned(clip):
    row = measure(*tasks(clip, count=2, every=2, step=2)["deeplab square"])
    assert np.sum(row["frames"][0]["counts"][0]) <= 12 * 16
    assert len(row["frames"]) == 2
    assert [source.net for source in sequences(clip)] == ["dl513"]
