"""``mixfield segment --export``."""

from __future__ import annotations

import json

import numpy as np
import pytest
from command_line import error_of, write_annotated
from PIL import Image
from typer.testing import CliRunner

from mixfield.cli import app
from mixfield.io import read_label_map


@pytest.fixture
def folder(tmp_path):
    return write_annotated(tmp_path)


def run(*words):
    done = CliRunner().invoke(app, ["segment", *map(str, words)])
    assert done.exit_code == 0, done.output
    return done


def test_one_image_and_many(folder):
    export = ("--export", "coco", "--export", "panoptic", "--modes", 1)
    one, many = folder / "one", folder / "many"
    text = run(folder / "images" / "a.png", "--scores", folder / "scores" / "a.npy", "--out", one, *export).stdout
    assert f"wrote {one / 'coco.json'}" in text
    run(folder / "images", "--scores", folder / "scores", "--out", many, *export)
    for out, names in ((one, ["a.png"]), (many, ["a.png", "b.png", "c.png"])):
        coco, panoptic = (json.loads((out / f"{kind}.json").read_text()) for kind in ("coco", "panoptic"))
        assert [image["file_name"] for image in coco["images"]] == names
        assert [annotation["file_name"] for annotation in panoptic["annotations"]] == names
    labels = read_label_map(many / "b" / "mode_1.png")
    with Image.open(many / "panoptic" / "b.png") as picture:
        np.testing.assert_array_equal(np.asarray(picture)[..., 0], labels + 1)


def test_an_unknown_format_is_refused_before_the_work(folder, monkeypatch, capsys):
    words = ("segment", folder / "images" / "a.png", "--scores", folder / "scores" / "a.npy", "--export", "pascal")
    error = error_of(monkeypatch, capsys, *words, "--out", folder / "out")
    assert "--export must be one of coco, panoptic, got 'pascal'" in error
    assert not (folder / "out").exists()
