"""``mixfield detect``: files in, files out, one sentence for bad input."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from recordings import save_recording
from typer.testing import CliRunner

import mixfield as mf
from mixfield.apps.detection import CRITERIA
from mixfield.cli import app
from mixfield.errors import MixfieldError
from mixfield.io import opencv, pom

pytest.importorskip("cv2")


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recording")
    return save_recording(folder, mf.datasets.walking_people(2, 2, 3, rng=1))


def _run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=True)


def test_detect_and_resume(recording, tmp_path):
    out = tmp_path / "modes"
    first = _run("detect", recording, "--frames", "0:2", "--modes", "2", "--out", out, "--json")
    assert first.exit_code == 0, first.output
    facts = json.loads(first.stdout)
    assert (facts["frames"], facts["computed"]) == (2, 2)
    posterior = mf.load(out / "frame_000001.npz")
    assert posterior.shape == (24, 24)
    assert opencv.read_image(out / "frame_000001.png").ndim == 3
    assert (out / "detections.txt").read_text().startswith("1,1,")
    again = _run("detect", recording, "--modes", "2", "--out", out, "--pictures", "0")
    assert again.exit_code == 0, again.output
    assert "3 frames, 1 of them new" in again.stdout
    assert not (out / "frame_000002.png").exists()
    other = _run("detect", recording, "--modes", "3", "--out", out)
    assert isinstance(other.exception, MixfieldError)
    assert "other settings" in str(other.exception)


def test_frames_with_other_masks_are_done_again(tmp_path):
    scene = save_recording(tmp_path, mf.datasets.walking_people(2, 2, 2, rng=1))
    command = ("detect", scene, "--modes", "1", "--pictures", "0", "--out", tmp_path / "o", "--json")
    first = json.loads(_run(*command).stdout)
    assert first["people"]["0"]
    for file in tmp_path.glob("c?-000.png"):
        opencv.write_image(file, np.zeros(opencv.read_image(file).shape, np.uint8))
    again = json.loads(_run(*command).stdout)
    assert again["computed"] == 1
    assert again["people"]["0"] == []
    assert again["people"]["1"] == first["people"]["1"]


@pytest.mark.parametrize(
    ("option", "complaint"),
    [
        (("--criterion", "best"), "criterion must be one of field, count, neighbourhood, paper, got 'best'"),
        (("--frames", "0:4:0"), "step of 1 or more, got '0:4:0'"),
        (("--frames", "-3:1"), "numbers from 0 on"),
    ],
)
def test_bad_options_are_refused_before_the_first_frame(recording, tmp_path, option, complaint):
    done = _run("detect", recording, "--out", tmp_path / "o", *option)
    assert complaint in str(done.exception)
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("criterion", CRITERIA)
def test_detection_uses_no_randomness(criterion):
    walk = mf.datasets.walking_people(2, 1, 1, rng=1)
    one, two = (mf.detect(walk.scene, walk.masks[0], 2, criterion=criterion, rng=seed) for seed in (0, 1))
    assert [mode.marginals.tobytes() for mode in one.modes] == [mode.marginals.tobytes() for mode in two.modes]


def test_detect_takes_pom_files(tmp_path):
    walk = mf.datasets.walking_people(1, 1, 2)
    for t in range(2):
        opencv.write_image(tmp_path / f"m-0-{t}.png", 255 * walk.masks[t, 0].astype(np.uint8))
    pom.write_pom(tmp_path / "room.pom", walk.scene, masks="m-%c-%f.png")
    done = _run("detect", tmp_path / "room.pom", "--out", tmp_path / "modes", "--modes", "1", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["frames"] == 2


def test_a_camera_that_sees_nothing_is_noted(tmp_path):
    walk = mf.datasets.walking_people(1, 1, 1)
    blind = type(walk.scene.views[0])(20, 10, np.zeros((walk.scene.ground.n, 4), np.int32))
    opencv.write_image(tmp_path / "m-0-0.png", 255 * walk.masks[0, 0].astype(np.uint8))
    opencv.write_image(tmp_path / "m-1-0.png", np.zeros((10, 20), np.uint8))
    scene = mf.Scene(walk.scene.ground, (walk.scene.views[0], blind), variance=(0.01, 0.01))
    pom.write_pom(tmp_path / "room.pom", scene, masks="m-%c-%f.png")
    command = ("detect", tmp_path / "room.pom", "--out", tmp_path / "modes", "--modes", "1")
    done = _run(*command)
    assert done.exit_code == 0, done.output
    assert "room.pom: camera 1 sees no cell of the ground" in done.stderr
    assert len(json.loads(_run(*command, "--json").stdout)["notes"]) == 1


def test_init_writes_a_scene_that_can_be_read(recording, tmp_path):
    target = tmp_path / "scene.toml"
    folder = recording.parent
    done = _run("detect", target, "--init", folder / "camera0.json", "--init", folder / "camera1.json")
    assert done.exit_code == 0, done.output
    assert len(mf.read_scene(target).views) == 2
    again = _run("detect", target, "--init", folder / "camera0.json")
    assert "exists already" in str(again.exception)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["absent.toml"], "absent.toml"),
        (["SCENE", "--frames", "3"], "frames must look like 0:400"),
        (["SCENE", "--frames", "9:"], "there are no frames 9:"),
        (["SCENE", "--criterion", "best"], "criterion must be one of"),
        (["SCENE", "--frames", "7:8"], "does not exist"),
    ],
)
def test_bad_input_is_one_sentence(recording, tmp_path, arguments, complaint):
    words = [str(recording) if word == "SCENE" else word for word in arguments]
    command = [sys.executable, "-m", "mixfield", "detect", *words, "--out", str(tmp_path / "o")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_masks_of_the_wrong_size_name_the_view(recording, tmp_path):
    copy = tmp_path / "scene.toml"
    text = recording.read_text().replace('"camera', f'"{recording.parent}/camera')
    copy.write_text(text)
    for c in range(2):
        opencv.write_image(tmp_path / f"c{c}-000.png", np.zeros((10, 10), np.uint8))
    done = _run("detect", copy, "--frames", "0:1", "--out", tmp_path / "o")
    assert "mask of view 'camera0' must have shape (height, width) = (144, 192)" in str(done.exception)


def test_help_loads_nothing_heavy():
    script = (
        "import sys\nfrom mixfield.cli import app\n"
        "try:\n    app(['detect', '--help'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('numba', 'scipy', 'cv2', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")
