"""The page about people detection."""

from __future__ import annotations

import json

import pytest

from experiments.occupancy.page import write_page
from experiments.people.moda import THRESHOLDS

ROW = {"people": 2, "cameras": 1, "frames": 10, "mean_field_wrong": 4}
ROW["hits"] = {"field": 0.5, "neighbourhood": 0.25, "paper": 0.0}


def test_page(tmp_path):
    pytest.importorskip("matplotlib")
    curve = [
        {"threshold": t, "moda": 0.5, "interval": [0.4, 0.6], "misses": 1, "false_positives": 2} for t in THRESHOLDS
    ]
    names = ["mean field", "best of 4 modes", "control"]
    part = {"views": [1], "frames": [0, 3, 2], "median_seconds": {"mean field": 0.1, "modes": 1}}
    results = {"pets": [part | {"curves": dict.fromkeys(names, curve)}], "synthetic": [ROW]}
    page = write_page(results, tmp_path).read_text()
    assert "| best of 4 modes | 0.500 |" in page
    assert "## PETS 2009 S2.L1, view 1, frames 0 to 3, 2 of them\n" in page
    assert "| 2 | 1 | 4 of 10 | 0.50 | 0.25 | 0.00 |" in page
    assert (tmp_path / "occupancy.svg").read_text().startswith("<?xml")
    assert json.loads((tmp_path / "occupancy.json").read_text()) == results
