"""The page of a segmented video."""

from __future__ import annotations

import numpy as np
import pytest
from page_reading import HOSTILE, escaped_count, facts_of

from mixfield.errors import MixfieldError
from mixfield.reports.video_page import VideoFrame, video_page

LABELS = np.zeros((2, 6, 8), int)
GOOD = {
    "image": np.zeros((6, 8, 3), np.uint8),
    "mean_field": LABELS[0],
    "modes": LABELS,
    "weights": [0.6, 0.4],
    "chosen": 0,
}


def test_a_video_is_checked():
    assert facts_of(video_page([VideoFrame(**GOOD)]))["frames"][0]["weights"] == [0.6, 0.4]
    for wrong in ({"chosen": 2}, {"weights": [1.0]}, {"mean_field": LABELS[0, :3]}):
        with pytest.raises(MixfieldError, match="of frame 0"):
            video_page([VideoFrame(**(GOOD | wrong))])
    with pytest.raises(MixfieldError, match="at least one"):
        video_page([])


def test_what_differs_from_mean_field_is_counted():
    modes = LABELS.copy()
    modes[1, :3] = 2
    frames = [VideoFrame(**(GOOD | {"modes": modes, "chosen": k})) for k in (0, 1)]
    page = video_page(frames, names=("a", "b", "c < d"), frame_rate=100.0)
    facts = facts_of(page)
    assert [frame["differs"] for frame in facts["frames"]] == [[0.0, 0.5]] * 2
    assert facts["interval"] == 40  # at most 25 frames per second
    assert "In 1 of them (50.0 %) it is not the heaviest" in page
    assert "c &lt; d" in page
    assert ">b<" not in page  # no pixel has it


def test_hostile_titles_and_labels_are_escaped():
    frame = VideoFrame(**(GOOD | {"modes": np.ones_like(LABELS)}))
    assert escaped_count(video_page([frame], names=("a", HOSTILE), title=HOSTILE)) == 3  # two titles and the legend
