"""The page about phase transitions."""

from __future__ import annotations

import json

import pytest

from experiments.temperature.measure import collect
from experiments.temperature.page import write_page
from experiments.temperature.photos import synthetic_photo


def test_page(temperature_rows, tmp_path):
    pytest.importorskip("matplotlib")
    made_by = {"command": "x", "versions": {"mixfield": "0"}, "seeds": "0"}
    page = write_page(collect(temperature_rows, synthetic_photo().reduced(20), made_by), tmp_path).read_text()
    assert "a drawn photo with scribbles, reduced to 20 x 20 pixels" in page
    assert "| 1 | 3.610 | 3.600 | 2.900 |" in page
    assert "| 7x7 | 5.500 | 5.495 | 0.999 | 4.750 | 0.883 |" in page
    results = json.loads((tmp_path / "temperature.json").read_text())
    assert "maps" not in results["models"]["model 1"]
    assert len(results["claims"]) == 8
