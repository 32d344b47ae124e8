"""`python -m experiments temperature` without data: a synthetic photo."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from experiments.__main__ import app
from experiments.temperature import measure

pytest.importorskip("matplotlib")


def test_command(tmp_path, monkeypatch):
    monkeypatch.setattr(measure, "temperatures", lambda **_: [1.0, 3.0, 4.0, 4.5, 4.9, 5.0, 5.1, 6.0])
    arguments = ["temperature", "--quick", "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    arguments += ["--work", str(tmp_path / "work"), "--workers", "1"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    page = (tmp_path / "out" / "temperature.md").read_text()
    assert "a drawn photo with scribbles" in page
    assert "Seeds: 0 for noise and starts, 0 to 0 for graphs." in page
    claims = json.loads((tmp_path / "out" / "temperature.json").read_text())["claims"]
    assert [c["verdict"] for c in claims][:2] == ["confirmed", "confirmed"]
