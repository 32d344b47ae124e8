"""``mixfield annotate``."""

from __future__ import annotations

import json

import numpy as np
import pytest
from annotating import NAMES, write_images
from command_line import error_of
from typer.testing import CliRunner

from mixfield.annotate import serving
from mixfield.annotate.folder import AnnotationFolder
from mixfield.cli import app

runner = CliRunner()


@pytest.fixture
def words(tmp_path):
    write_images(tmp_path / "photos")
    (tmp_path / "names.txt").write_text("\n".join(NAMES))
    return ["annotate", str(tmp_path / "photos"), "--labels", str(tmp_path / "names.txt")]


@pytest.fixture
def served(monkeypatch):
    """What would be served, and the address that is shown."""
    calls = []

    def serve(folders, titles, *, port, ready):
        calls.append((folders, titles, port))
        ready("http://127.0.0.1:1/token/")
        raise KeyboardInterrupt

    monkeypatch.setattr(serving, "serve", serve)
    return calls


def test_the_address_is_printed(words, served, tmp_path):
    answer = runner.invoke(app, [*words, "--no-open", "--port", "81"])
    assert answer.exit_code == 0, answer.output
    assert "3 images: open http://127.0.0.1:1/token/" in answer.output
    assert f"the annotations are in {tmp_path / 'photos' / 'annotations'}" in answer.output
    ((folder,), titles, port) = served[0]
    assert folder.names == NAMES
    assert (titles, port) == (["names"], 81)


def test_the_page_is_opened(words, served, monkeypatch):
    addresses = []
    monkeypatch.setattr("webbrowser.open", addresses.append)
    answer = runner.invoke(app, [*words, "--json"])
    assert json.loads(answer.stdout) == {"address": "http://127.0.0.1:1/token/", "images": 3}
    assert addresses == ["http://127.0.0.1:1/token/"]
    assert len(served) == 1


def test_several_sets_of_labels_have_folders_of_their_own(words, served, tmp_path):
    (tmp_path / "other.txt").write_text("sky\nearth\n")
    more = ["--labels", str(tmp_path / "other.txt"), "--out", str(tmp_path / "out"), "--no-open"]
    assert runner.invoke(app, [*words, *more]).exit_code == 0
    assert [folder.saved for folder in served[0][0]] == [tmp_path / "out" / "names", tmp_path / "out" / "other"]


def test_exports_without_a_server(words, tmp_path):
    saved = tmp_path / "photos" / "annotations" / "names"
    folder = AnnotationFolder(tmp_path / "photos", NAMES, saved)
    folder.open(0).perform({"kind": "click", "x": 60, "y": 80, "label": 1})
    answer = runner.invoke(app, [*words, "--export", "coco", "--export", "stack", "--json"])
    assert answer.exit_code == 0, answer.output
    assert json.loads(answer.stdout)["written"] == [str(saved / "coco/coco.json"), str(saved / "stack/a.png.npz")]
    assert np.load(saved / "stack/a.png.npz")["labels"].shape[1:] == (128, 128)
    assert "wrote 1 files" in runner.invoke(app, [*words, "--export", "png"]).output


def test_wrong_input(words, tmp_path, monkeypatch, capsys):
    assert "no image is annotated" in error_of(monkeypatch, capsys, *words, "--export", "png")
    assert "must be a folder" in error_of(monkeypatch, capsys, *words, "--scores", tmp_path / "no")
    again = tmp_path / "again"
    again.mkdir()
    (again / "names.txt").write_text("a\nb\n")
    error = error_of(monkeypatch, capsys, *words, "--labels", again / "names.txt")
    assert "files of different names" in error
