"""The page about still images."""

from __future__ import annotations

import json

import pytest

from experiments.segmentation.page import page_text, write_page
from experiments.segmentation.results import results

COMMAND = "python -m experiments segmentation"


def test_page(complete_rows, tmp_path):
    pytest.importorskip("matplotlib")
    page = write_page(complete_rows, {"command": COMMAND}, ["one.png"], tmp_path).read_text()
    numbers = json.loads((tmp_path / "segmentation.json").read_text())
    assert f"{numbers['parts']['a third of the size']['dl513']['ours']['mean'][-1]:.2f}" in page
    assert "![truth, mean field and best mode](one.png)" in page
    assert "pairs of an image and a network are measured" not in page
    assert f"Made by `{COMMAND}`; all numbers" in page


def test_what_is_missing_is_stated(partial_rows):
    text = page_text(results(partial_rows, {"command": COMMAND, "measured": 3, "tasks": 9}), [])
    assert "At full resolution 28 of 70 pairs of an image and a network are measured." in text
    assert "More than 8 segmentations were computed at a third of the size only." in text
    assert f"Made by `{COMMAND}`, 3 of 9 measurements, which the same command resumes; all" in text
    assert "## What the modes find" not in text
