"""People in many frames: saved posteriors, and runs that are resumed."""

from __future__ import annotations

import pytest
from recordings import save_recording

import mixfield as mf
from mixfield.apps import with_heights
from mixfield.errors import MixfieldError
from mixfield.io.detection_run import DetectionRun
from mixfield.io.scene_file import read_footage, read_scene

pytest.importorskip("cv2")


@pytest.fixture
def recording(tmp_path):
    path = save_recording(tmp_path, mf.datasets.walking_people(2, 2, 3, rng=1))
    return read_scene(path), read_footage(path)


def test_only_missing_frames_are_computed(recording, tmp_path):
    scene, footage = recording
    run = DetectionRun(tmp_path / "modes", scene, n_modes=1)
    assert list(run.run(footage, [0, 1])) == [0, 1]
    written = run.path(1).stat().st_mtime_ns
    assert run.path(1).name == "frame_000001.npz"
    assert list(run.run(footage, [0, 1, 2])) == [0, 1, 2]
    assert run.path(1).stat().st_mtime_ns == written
    posteriors = run.load([0, 2])
    assert list(posteriors) == [0, 2]
    assert posteriors[2].shape == scene.ground.shape


def test_other_settings_need_another_folder(recording, tmp_path):
    scene, footage = recording
    list(DetectionRun(tmp_path / "modes", scene, n_modes=1).run(footage, [0]))
    with pytest.raises(MixfieldError, match="other settings"):
        list(DetectionRun(tmp_path / "modes", scene, n_modes=2).run(footage, [0]))
    with pytest.raises(MixfieldError, match="other settings"):
        list(DetectionRun(tmp_path / "modes", with_heights(scene, (1.7, 1.8)), n_modes=1).run(footage, [0]))


def test_a_failure_is_raised(recording, tmp_path):
    scene, footage = recording
    with pytest.raises(MixfieldError, match=r"c0-007\.png does not exist"):
        list(DetectionRun(tmp_path / "modes", scene, n_modes=1).run(footage, [7]))
