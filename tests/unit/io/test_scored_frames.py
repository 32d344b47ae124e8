"""Frames with scores: folders of images and video files."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from mixfield.errors import MixfieldError
from mixfield.io.images import write_image
from mixfield.io.scored_frames import ScoredFrames
from mixfield.io.video_writer import VideoWriter


def picture(t):
    """(16, 16, 3) in red that grows with t."""
    image = np.zeros((16, 16, 3), np.uint8)
    image[..., 0] = 60 * t + 20
    return image


@pytest.fixture
def folders(tmp_path):
    images, scores = tmp_path / "images", tmp_path / "scores"
    images.mkdir()
    scores.mkdir()
    for t in range(3):
        write_image(images / f"f{t}.png", picture(t))
    return images, scores


def test_a_folder_of_images(folders):
    images, scores = folders
    np.save(scores / "f0.npy", np.zeros(3))
    np.save(scores / "f2.npy", np.zeros(3))
    source = ScoredFrames(images, scores)
    frames = source.frames()
    assert [(frame.name, frame.number) for frame in frames] == [("f0", 0), ("f1", 1), ("f2", 2)]
    assert [frame.scores and frame.scores.name for frame in frames] == ["f0.npy", None, "f2.npy"]
    np.testing.assert_array_equal(source.picture(frames[1]), picture(1))


def test_a_video_file(folders, tmp_path):
    pytest.importorskip("cv2")
    _, scores = folders
    writer = VideoWriter(tmp_path / "v.mp4", 5.0)
    for t in range(3):
        writer.add(picture(t))
        np.save(scores / f"000{t}.npy", np.zeros(3))
    writer.close()
    source = ScoredFrames(tmp_path / "v.mp4", scores)
    for one in (source, pickle.loads(pickle.dumps(source))):
        frames = one.frames()
        assert [frame.scores.name for frame in frames] == ["0000.npy", "0001.npy", "0002.npy"]
        red, _, blue = one.picture(frames[2]).reshape(-1, 3).mean(0)
        assert red - blue > 80  # red first


def test_what_is_missing_is_named(folders, tmp_path):
    images, scores = folders
    with pytest.raises(MixfieldError, match="gone does not exist"):
        ScoredFrames(tmp_path / "gone", scores)
    with pytest.raises(MixfieldError, match="has no images"):
        ScoredFrames(scores, scores)
    with pytest.raises(MixfieldError, match=r"no frame of .* has scores"):
        ScoredFrames(images, scores)
