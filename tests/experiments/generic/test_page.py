"""The page about generic models."""

from __future__ import annotations

import json

import pytest

from experiments.generic.page import write_page


def test_page(models, tmp_path):
    pytest.importorskip("matplotlib")
    made_by = {"command": "x", "versions": {"mixfield": "0"}, "peers": {"pygms": "1"}}
    page = write_page(models, made_by, tmp_path).read_text()
    assert "`x` made this page, on 2 of 11 UAI-2014 models" in page
    assert "| pygms mean field | 5 sweeps |  | fails on most |  |" in page
    assert "| A | 9 | 0.1 / 0.01 | 1 / 0.2 | 1 / 0.3 | 0.2 / 0.02 | 0.4 | 0.05 |" in page
    assert "| B | 9 | 0.4 / 0.04 | 0.3 / 0.2 | fails / fails | 0.01 / 0.02 | fails | 0.05 |" in page
    assert "Seed 0. mixfield 0, pygms 1." in page
    assert json.loads((tmp_path / "generic.json").read_text())["models"] == models
