"""The figure of the page."""

from __future__ import annotations

import pytest

from experiments.segmentation.figure import _curves, _panel, write_figure
from experiments.segmentation.results import results


def test_only_the_best_strengths_are_drawn():
    methods = {
        "ours": 1,
        "DivMBest 0.5": 2,
        "DivMBest 1": 3,
        "noise 1": 4,
        "paper": 5,
        "tuned": ["DivMBest 1", "noise 1"],
    }
    assert _curves(methods) == {"ours": 1, "DivMBest": 3, "noise": 4, "paper": 5}


def test_files(complete_rows, tmp_path):
    pytest.importorskip("matplotlib")
    parts = results(complete_rows, {})["parts"]
    panel = _panel("network", "some images", parts["full resolution"]["dl513"])
    assert panel.title == "network, 35 images\nsome images"
    assert [curve.name for curve in panel.curves] == ["ours", "DivMBest", "noise"]  # the others have fewer images
    write_figure(dict(list(parts.items())[:1]), tmp_path)
    assert (tmp_path / "segmentation.svg").stat().st_size > 10_000
    assert (tmp_path / "segmentation.png").read_bytes().startswith(b"\x89PNG")
