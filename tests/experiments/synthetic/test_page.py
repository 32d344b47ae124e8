"""The page about random fields."""

from __future__ import annotations

import json

import pytest

from experiments.synthetic.page import page_text, write_page

ABOUT = {"command": "x", "versions": {"mixfield": "0"}, "instances": 100, "seeds": "0"}


def test_page(rows, tmp_path):
    pytest.importorskip("matplotlib")
    page = write_page(rows, ABOUT, tmp_path).read_text()
    assert "**This page has 1 to 3 of the 100 instances of each family**" in page
    assert "not in the paper: mf.infer beats cold restarts given the same time" in page
    results = json.loads((tmp_path / "synthetic.json").read_text())
    assert {len(f["instances"]) for f in results["families"]} == {1, 3}
    assert "## 7 x 7, 8 modes: mean and standard error in nats" in page_text(results)


def test_instances_in_which_restarts_win_are_listed(summaries):
    entry = summaries[0].as_json()
    results = {"made_by": ABOUT | {"instances": 3}, "claims": [], "families": [entry]}
    loss = {"instance": 7, "modes": 8, "by": 0.5, "above_root": 1.0, "default_above": 0.25}
    entry["restarts_win"] = {method: [] for method in entry["restarts_win"]}
    text = page_text(results)
    assert "In no instance do restarts end above" in text
    assert "All 3 instances of every family are in." in text
    entry["restarts_win"]["mf.infer"] = [loss]
    assert "| 7x7-mixed-grid-mmmf | 7 | mf.infer | 8 | 0.50 | 1.00 | +0.25 |" in page_text(results)
