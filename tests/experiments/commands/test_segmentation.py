"""`python -m experiments segmentation` on small photographs."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from experiments.__main__ import app
from experiments.segmentation import gains

pytest.importorskip("matplotlib")


def test_command(photos, monkeypatch):
    monkeypatch.setattr(gains, "FEWEST", 1)
    words = ["segmentation", "--data", str(photos), "--modes", "2", "--images", "1", "--step", "3"]
    folders = ["--work", str(photos / "work"), "--out", str(photos / "out")]
    done = CliRunner().invoke(app, [*words, *folders])
    assert done.exit_code == 0, done.output
    results = json.loads((photos / "out" / "segmentation.json").read_text())
    made_by = results["made_by"]
    assert (made_by["measured"], made_by["tasks"]) == (60, 120)  # one size of two
    assert list(results["parts"]) == ["a third of the size"]
    assert "60 of 120 measurements" in (photos / "out" / "segmentation.md").read_text()
