"""``mixfield fit``: a model of the field from a folder of annotated images."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from command_line import error_of, write_annotated
from typer.testing import CliRunner

import mixfield as mf
from mixfield.apps import FieldModel
from mixfield.apps.fitting import MEAN_IOU
from mixfield.apps.measure import Measure
from mixfield.cli import app
from mixfield.cli.fit import _print
from mixfield.io import read_image, read_label_map, read_scores, write_label_map

runner = CliRunner()


@pytest.fixture
def folder(tmp_path):
    return write_annotated(tmp_path)


def run(*arguments):
    return runner.invoke(app, [*map(str, arguments)])


def test_the_model_is_that_of_the_library_and_segment_reads_it(folder):
    answer = run("fit", folder, "--out", folder / "model.toml", "--folds", 3, "--seed", 2)
    assert answer.exit_code == 0, answer.output
    for text in (
        "likelihood",
        "mean IoU",
        "calibration error",
        "scores alone",
        "95 % interval",
        "3 images",
        "model.toml",
    ):
        assert text in answer.stdout
    arrays = [
        [read(folder / name / f"{stem}{suffix}") for stem in "abc"]
        for name, read, suffix in (
            ("images", read_image, ".png"),
            ("scores", read_scores, ".npy"),
            ("truth", read_label_map, ".png"),
        )
    ]
    model = FieldModel.load(folder / "model.toml")
    assert model == mf.fit(*arrays, folds=3, rng=2)
    one = ("segment", folder / "images" / "a.png", "--scores", folder / "scores" / "a.npy", "--json")
    said = json.loads(run(*one, "--model", folder / "model.toml", "--out", folder / "o").stdout)
    assert said["weights"] == mf.segment(arrays[0][0], arrays[1][0], model=model).weights.tolist()


def test_programs_get_the_whole_model(folder):
    facts = json.loads(run("fit", folder, "--out", folder / "model.toml", "--json").stdout)
    assert facts["images"] == 3
    assert {"negative log-likelihood", "mean IoU"} <= {row["name"] for row in facts["table"]}
    assert all(row["low"] <= row["high"] for row in facts["table"])


def test_wrong_folders_are_one_sentence(folder, monkeypatch, capsys):
    def error(where, out=folder / "model.toml"):
        return error_of(monkeypatch, capsys, "fit", where, "--out", out)

    assert "images is missing" in error(folder / "images")
    assert "does not exist" in error(folder, folder / "none" / "model.toml")
    original = read_label_map(folder / "truth" / "b.png")
    write_label_map(folder / "truth" / "b.png", np.where(original == 0, 7, original))
    assert "b.png: truths must hold labels 0..1" in error(folder)
    write_label_map(folder / "truth" / "b.png", original)
    np.save(folder / "scores" / "b.npy", np.ones((*original.shape, 3)))
    assert "b.png: scores must have the same number of labels" in error(folder)
    np.save(folder / "scores" / "b.npy", np.ones((3, 18, 2)))
    assert "b.png: scores must have the height and width" in error(folder)
    write_label_map(folder / "truth" / "a.png", np.zeros((3, 3), int))
    assert "a.png: truths must have shape" in error(folder)
    (folder / "scores" / "a.npy").write_bytes(b"")
    assert "a.npy" in error(folder)
    (folder / "truth" / "c.png").unlink()
    assert "c.png: no labels c.png in truth" in error(folder)
    assert not (folder / "model.toml").exists()


def test_a_worse_mean_iou_is_said_in_words(capsys):
    model = FieldModel.default()
    _print(replace(model, table=(Measure(MEAN_IOU, 0.6, 0.5875, -0.02, 0.0),)))
    assert "mean IoU is 1.25 points below that of the scores" in capsys.readouterr().out
    _print(replace(model, table=(Measure(MEAN_IOU, 0.6, 0.61, 0.0, 0.02),)))
    assert "below" not in capsys.readouterr().out
