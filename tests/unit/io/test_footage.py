"""Footage of several cameras: masks that are given or computed."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from recordings import moving_block, save_recording

import mixfield as mf
from mixfield.errors import FileFormatError
from mixfield.io.footage import CameraFootage
from mixfield.io.frame_source import open_frames
from mixfield.io.scene_file import read_footage

cv2 = pytest.importorskip("cv2")


def test_masks_from_footage(tmp_path):
    frames, truth = moving_block(np.random.default_rng(0))
    for k, image in enumerate(frames):
        cv2.imwrite(str(tmp_path / f"f{k}.png"), image)
    (tmp_path / "scene.toml").write_text("[[camera]]\nfootage = 'f{frame}.png'\n")
    footage = read_footage(tmp_path / "scene.toml")
    mask = footage.masks(7)[0] > 0
    assert (mask & truth[7]).sum() / (mask | truth[7]).sum() > 0.85
    np.testing.assert_array_equal(footage.pictures(7)[0], frames[7])
    (tmp_path / "scene.toml").write_text("[[camera]]\ncalibration = 'x'\n")
    with pytest.raises(FileFormatError, match="neither footage nor masks"):
        read_footage(tmp_path / "scene.toml")


def test_given_masks_are_used_and_name_their_files(tmp_path):
    walk = mf.datasets.walking_people(1, 2, 2, rng=1)
    footage = read_footage(save_recording(tmp_path, walk))
    assert len(footage) == 2
    assert [file.name for file in footage.files(1)] == ["c0-001.png", "c1-001.png"]
    np.testing.assert_array_equal(footage.pictures(1)[1] > 0, walk.masks[1, 1])  # without pictures the masks are shown


def test_a_camera_is_pickled_without_its_background(tmp_path):
    frames, _ = moving_block(np.random.default_rng(0), 8)
    for k, image in enumerate(frames):
        cv2.imwrite(str(tmp_path / f"f{k}.png"), image)
    camera = CameraFootage(open_frames(tmp_path, "f{frame}.png"), None)
    mask = camera.mask(3)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(camera)).mask(3), mask)
