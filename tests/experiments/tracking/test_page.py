"""The page about tracking."""

from __future__ import annotations

import json

import pytest

from experiments.people.moda import THRESHOLDS
from experiments.tracking.measure import KSP, KSP_STAR, MEAN_FIELD
from experiments.tracking.page import page_text, write_page


def _row(method, moda, source="Walks", **tracks):
    row = {"source": source, "way": method}
    row["curve"] = [{"threshold": t, "moda": moda, "interval": [moda - 0.1, moda + 0.1]} for t in THRESHOLDS]
    return row | ({"tracks": tracks, "modes": [0, 1, 2], "mistakes": [5, 2, 1]} if tracks else {})


def test_means_over_sequences_of_one_kind(tmp_path):
    pytest.importorskip("matplotlib")
    rows = [_row(MEAN_FIELD, 0.5), _row(MEAN_FIELD, 0.75), _row(KSP, 0.5, tracks=3), _row(KSP_STAR, 0.5, tracks=4)]
    page = write_page(rows, {"command": "x"}, tmp_path).read_text()
    assert "## Walks, mean of 2" in page
    assert "| mean field | 0.625 |" in page
    assert "In the 2 frames for which KSP\\* chose another mode than the heaviest, KSP makes 3 mistakes" in page
    assert "Not measured: best mode; modes + KSP*, printed price;" in page
    assert json.loads((tmp_path / "tracking.json").read_text())["sources"]["Walks"][KSP][0]["tracks"] == {"tracks": 3}
    assert (tmp_path / "tracking.svg").read_text().startswith("<?xml")


def test_a_single_sequence_has_an_interval():
    results = {"made_by": {"command": "x"}, "sources": {"PETS": {MEAN_FIELD: [_row(MEAN_FIELD, 0.5, "PETS")]}}}
    text = page_text(results)
    assert "## PETS\n" in text
    assert "| 0.400 to 0.600 |" in text
    assert "KSP makes" not in text
