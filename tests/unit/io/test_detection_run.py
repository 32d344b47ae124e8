"""People in many frames: saved posteriors, and runs that are resumed."""

from __future__ import annotations

import pytest
from recordings import save_recording

import mixfield as mf
from mixfield import batch
from mixfield.apps import with_heights
from mixfield.errors import MixfieldError
from mixfield.io.detection_run import DetectionTask, load_posteriors, posterior_path
from mixfield.io.scene_file import read_footage, read_scene

pytest.importorskip("cv2")


@pytest.fixture
def recording(tmp_path):
    path = save_recording(tmp_path, mf.datasets.walking_people(2, 2, 3, rng=1))
    return read_scene(path), read_footage(path)


def run(task, frames, folder):
    """Names of the frames that were computed now."""
    outcomes = list(batch.map(task, task.items(frames), folder, settings=task.settings()))
    assert [int(outcome.name) for outcome in outcomes] == frames
    return [int(outcome.name) for outcome in outcomes if outcome.fresh]


def test_only_missing_frames_are_computed(recording, tmp_path):
    scene, footage = recording
    task = DetectionTask(scene, footage, n_modes=1)
    assert run(task, [0, 1], tmp_path / "modes") == [0, 1]
    assert run(task, [0, 1, 2], tmp_path / "modes") == [2]
    assert posterior_path(tmp_path / "modes", 1).name == "frame_000001.npz"
    posteriors = load_posteriors(tmp_path / "modes", [0, 2])
    assert list(posteriors) == [0, 2]
    assert posteriors[2].shape == scene.ground.shape


def test_other_settings_need_another_folder(recording, tmp_path):
    scene, footage = recording
    run(DetectionTask(scene, footage, n_modes=1), [0], tmp_path / "modes")
    for other in (
        DetectionTask(scene, footage, n_modes=2),
        DetectionTask(with_heights(scene, (1.7, 1.8)), footage, n_modes=1),
    ):
        with pytest.raises(MixfieldError, match="other settings"):
            run(other, [0], tmp_path / "modes")


def test_a_missing_frame_is_a_failure(recording, tmp_path):
    task = DetectionTask(*recording, n_modes=1)
    (outcome,) = batch.map(task, task.items([7]), tmp_path / "modes", settings=task.settings())
    assert outcome.failure is not None
    assert "c0-007.png does not exist" in outcome.failure
