"""``mixfield segment --out labels.tif``: block by block, with the library's answer."""

from __future__ import annotations

import json

import numpy as np
import pytest
from command_line import error_of
from large_images import several_blocks
from typer.testing import CliRunner

import mixfield as mf
from mixfield.cli import app
from mixfield.cli.segment_large import SUFFIXES, is_large
from mixfield.large import label_files

runner = CliRunner()


@pytest.fixture
def files(tmp_path):
    image, scores = several_blocks()
    np.save(tmp_path / "image.npy", image)
    np.save(tmp_path / "scores.npy", scores)
    return tmp_path


def words(folder, out, *more):
    return ["segment", folder / "image.npy", "--scores", folder / "scores.npy", "--out", folder / out, *more]


def run(*arguments):
    return runner.invoke(app, [str(word) for word in words(*arguments)])


def test_it_is_the_library_answer(files):
    answer = run(files, "a.npy", "--modes", 1, "--block", 48, "--model", "deeplab", "--json")
    assert answer.exit_code == 0
    said = json.loads(answer.stdout)
    image, scores = several_blocks()
    found = mf.segment_large(image, scores, files / "b.npy", 1, kernels=mf.Kernels.deeplab(), block=48, progress=False)
    assert (files / "a.npy").read_bytes() == (files / "b.npy").read_bytes()
    assert said["log_z"] == found.log_z
    assert said["shape"] == [80, 112]


def test_people_see_blocks_and_questions(files):
    answer = run(files, "a.tif", "--modes", 2, "--block", 48, "--threads", 1)
    assert answer.exit_code == 0
    assert "112 x 80 pixels in 6 blocks" in answer.stdout
    again = run(files, "a.tif", "--modes", 2, "--block", 48)
    assert "6 of them by an earlier run" in again.stdout
    page = runner.invoke(app, ["report", str(files / "a.tif.blocks")])
    assert page.exit_code == 0
    assert (files / "a.tif.blocks" / "report.html").exists()


def test_only_files_are_large(tmp_path):
    assert is_large(tmp_path / "a.TIF")
    assert not is_large(tmp_path / "folder")
    assert label_files.SUFFIXES == SUFFIXES


def test_one_sentence_for_bad_input(files, monkeypatch, capsys):
    assert "multiples of 16" in error_of(monkeypatch, capsys, *words(files, "a.npy", "--block", 50))
    np.save(files / "scores.npy", np.zeros((5, 5, 2)))
    assert "height and width" in error_of(monkeypatch, capsys, *words(files, "a.npy"))
