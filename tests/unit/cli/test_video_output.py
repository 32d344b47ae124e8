"""Files of a segmented video, written frame by frame."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mixfield.apps.mode_path import Choice
from mixfield.apps.video import Decided
from mixfield.cli import video_output
from mixfield.cli.video_frames import PendingFrame
from mixfield.cli.video_output import DONE, VideoOutput
from mixfield.io import read_label_map
from mixfield.reports.video_file import read_video

pytest.importorskip("cv2")

LABELS = np.arange(2 * 16 * 20).reshape(2, 16, 20) % 2


def pending(name):
    return PendingFrame(name, np.zeros((16, 20), np.uint8), LABELS[0], LABELS)


def decided(labels=None, *, common=math.nan):
    choice = None if labels is None else Choice(1, np.array([0.4, 0.6]))
    return Decided(choice, labels, common, starts=True)


def test_frames_become_files(tmp_path, monkeypatch):
    monkeypatch.setattr(video_output, "MAX_SHOWN", 1)
    (tmp_path / DONE).write_text("of an earlier run")
    with VideoOutput(tmp_path, 5.0, title="T") as output:
        assert not (tmp_path / DONE).exists()
        output.add(decided(LABELS[0] + 2), pending("a"))
        output.add(decided(LABELS[0], common=0.5), pending("b"))
    output.write_page()
    assert [row["differs"] for row in output.rows] == [1.0, 0.0]
    assert [row["probability"] for row in output.rows] == [0.6, 0.6]
    assert [row["common"] for row in output.rows] == [None, 0.5]
    np.testing.assert_array_equal(read_label_map(tmp_path / "labels" / "a.png"), LABELS[0] + 2)
    np.testing.assert_array_equal(read_label_map(tmp_path / "mean_field" / "a.png"), LABELS[0])
    assert (tmp_path / "video.mp4").stat().st_size > 0
    assert len(read_video(tmp_path / "video.npz")) == 1
    assert (tmp_path / "report.html").exists()


def test_a_missing_frame_removes_results_of_an_earlier_run(tmp_path):
    with VideoOutput(tmp_path, 5.0, title="T") as output:
        output.add(decided(LABELS[0]), pending("a"))
        output.add(decided(), PendingFrame("a"))
    empty = {"mode": None, "probability": None, "differs": 0.0, "common": None, "starts": False}
    assert output.rows[1] == {"frame": "a", **empty}
    assert not list((tmp_path / "labels").iterdir())
    assert not list((tmp_path / "mean_field").iterdir())


def write_and_stop(out):
    with VideoOutput(out, 5.0, title="T") as output:
        output.add(decided(LABELS[0]), pending("a"))
        raise KeyboardInterrupt


def test_no_film_after_an_error(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        write_and_stop(tmp_path)
    assert not [path for path in tmp_path.iterdir() if path.is_file()]
