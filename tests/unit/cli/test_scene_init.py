"""``mixfield detect --init``: a first scene file."""

from __future__ import annotations

import json

import pytest
from command_line import error_of
from recordings import save_recording
from typer.testing import CliRunner

import mixfield as mf
from mixfield.cli import app
from mixfield.io.documents import read_toml
from mixfield.io.scene_file import visible_area

pytest.importorskip("cv2")


@pytest.fixture
def calibrations(tmp_path):
    """The cameras of a room of 6 x 6 m, in millimetres."""
    save_recording(tmp_path, mf.datasets.walking_people(1, 2, 1, rng=0))
    files = [tmp_path / f"camera{c}.json" for c in range(2)]
    for file in files:
        content = json.loads(file.read_text())
        content["t"] = [1000 * value for value in content["t"]]
        file.write_text(json.dumps(content))
    return files


def init(scene, calibrations, *options):
    words = [word for file in calibrations for word in ("--init", str(file))]
    return CliRunner().invoke(app, ["detect", str(scene), *words, *options])


def test_millimetres_are_guessed_and_said(calibrations, tmp_path):
    done = init(tmp_path / "new.toml", calibrations)
    assert done.exit_code == 0, done.output
    assert "camera0.json seems to be in mm: unit = 0.001 was written" in done.stdout
    table = read_toml(tmp_path / "new.toml")
    assert [camera["unit"] for camera in table["camera"]] == [0.001, 0.001]
    cameras = mf.datasets.walking_people(1, 2, 1, rng=0).scene.cameras
    assert tuple(table["area"]) == visible_area(cameras)
    assert len(mf.read_scene(tmp_path / "new.toml").views) == 2


def test_the_unit_can_be_given(calibrations, tmp_path, monkeypatch, capsys):
    facts = json.loads(init(tmp_path / "cm.toml", calibrations, "--unit", "cm", "--json").stdout)
    assert facts["units"] == [0.01, 0.01]
    assert facts["notes"] == []
    words = ("detect", tmp_path / "feet.toml", "--init", calibrations[0], "--unit", "ft")
    assert "--unit must be one of m, cm, mm, got 'ft'" in error_of(monkeypatch, capsys, *words)


def test_a_folder_of_a_data_set(data, tmp_path):
    done = init(tmp_path / "wildtrack.toml", [data / "people" / "wildtrack"])
    assert done.exit_code == 0, done.output
    assert "extr_CVLab1.xml seems to be in cm" in done.stdout
    scene = mf.read_scene(tmp_path / "wildtrack.toml")
    assert [view.name for view in scene.views][-1] == "IDIAP3"
    assert scene.views[0].width == 1920
    done = init(tmp_path / "multiviewx.toml", [data / "people" / "multiviewx"])
    assert "puts the ground behind the camera" in done.stdout
