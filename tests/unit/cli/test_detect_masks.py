"""Notes of ``mixfield detect`` about masks that show nobody."""

from __future__ import annotations

import json

import numpy as np
import pytest
from recordings import save_recording
from typer.testing import CliRunner

import mixfield as mf
from mixfield.cli import app
from mixfield.cli.detect_masks import mask_notes, mask_summary

cv2 = pytest.importorskip("cv2")

WALK = mf.datasets.walking_people(1, 2, 4, rng=0)


def test_the_share_of_blobs_with_the_size_of_a_person():
    assert mask_summary([{"blobs": [[4, 1], [0, 0]]}, {"blobs": [[0, 0], [4, 1]]}, {}]) == {
        "blobs": 8,
        "people_sized": 0.25,
    }
    assert mask_summary([]) == {"blobs": 0, "people_sized": 0.0}


def test_a_camera_is_noted_if_nearly_no_frame_shows_a_person(tmp_path):
    seen, empty = [[3, 2], [3, 2]], [[3, 2], [3, 0]]
    assert mask_notes([{"blobs": seen}] * 20, WALK.scene, tmp_path, True) == []
    assert mask_notes([{"blobs": seen}] * 2 + [{"blobs": empty}] * 18, WALK.scene, tmp_path, True) == []
    (note,) = mask_notes([{"blobs": seen}] + [{"blobs": empty}] * 19, WALK.scene, tmp_path, True)
    assert "masks of camera camera 1: no blob has the size of a person in 19 of 20 frames" in note
    assert f'{tmp_path}/masks_*.png; try background = "KNN"' in note
    (note,) = mask_notes([{"blobs": empty}] * 3, WALK.scene, tmp_path, False)
    assert "white on black" in note


def video(path, moving, *, rate=12.0):
    """A video of the size of the view, of noise and, if ``moving``, of the people of the walk."""
    view, rng = WALK.scene.views[0], np.random.default_rng(0)
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"MJPG"), rate, (view.width, view.height))
    for t in range(len(WALK.masks)):
        image = np.clip(100 + rng.normal(0, 2, (view.height, view.width, 3)), 0, 255)
        if moving:
            image[WALK.masks[t, 0]] = 220
        writer.write(image.astype(np.uint8))
    writer.release()


def test_background_subtraction_that_sees_nothing_is_said_and_shown(tmp_path):
    scene = save_recording(tmp_path, WALK)
    lines = scene.read_text().splitlines()
    scene.write_text("\n".join('footage = "still.avi"' if line.startswith("masks") else line for line in lines))
    video(tmp_path / "still.avi", moving=False)
    done = CliRunner().invoke(app, ["detect", str(scene), "--out", str(tmp_path / "modes"), "--modes", "1", "--json"])
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert len(facts["notes"]) == 2
    assert "no blob has the size of a person in 4 of 4 frames" in facts["notes"][0]
    assert facts["masks"]["people_sized"] == 0.0
    preview = cv2.imread(str(tmp_path / "modes" / "masks_000000.png"))
    assert preview.shape[1] > preview.shape[0]  # two cameras side by side


def test_given_masks_have_no_preview(tmp_path):
    scene = save_recording(tmp_path, WALK)
    out = tmp_path / "modes"
    done = CliRunner().invoke(app, ["detect", str(scene), "--out", str(out), "--modes", "1"])
    assert done.exit_code == 0, done.output
    assert not list(out.glob("masks_*"))
    assert "% of the blobs of the masks have the size of a person" in done.stdout
    assert f"next: mixfield track {out} --scene {scene}" in done.stdout
    following = done.stdout.split("next: mixfield ")[1].split()
    tracked = CliRunner().invoke(app, [*following, "--out", str(tmp_path / "tracks.csv")])
    assert tracked.exit_code == 0, tracked.output
