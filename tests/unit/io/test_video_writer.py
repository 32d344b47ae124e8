"""Video files written picture by picture."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.io.frame_source import VideoFile
from mixfield.io.video_writer import VideoWriter

pytest.importorskip("cv2")


def test_a_video_has_its_name_when_it_is_complete(tmp_path):
    picture = np.zeros((16, 16, 3), np.uint8)
    for end, exists in (("abandon", False), ("close", True)):
        writer = VideoWriter(tmp_path / "v.mp4", 5.0)
        writer.add(picture)
        assert not (tmp_path / "v.mp4").exists()
        getattr(writer, end)()
        assert [path.name for path in tmp_path.iterdir()] == ["v.mp4"] * exists
    assert len(VideoFile(tmp_path / "v.mp4")) == 1


def test_odd_sizes_are_cropped_and_red_stays_red(tmp_path):
    picture = np.zeros((17, 19, 3), np.uint8)
    picture[..., 0] = 200
    writer = VideoWriter(tmp_path / "v.mp4", 5.0)
    writer.add(picture)
    writer.close()
    frame = VideoFile(tmp_path / "v.mp4").frame(0)
    assert frame.shape == (16, 18, 3)
    assert frame[..., 2].mean() > 150 > 50 > frame[..., 0].mean()  # blue first


def test_without_pictures_there_is_no_file(tmp_path):
    writer = VideoWriter(tmp_path / "v.mp4", 5.0)
    writer.close()
    writer.abandon()
    assert list(tmp_path.iterdir()) == []
