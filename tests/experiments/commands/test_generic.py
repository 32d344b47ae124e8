"""`python -m experiments generic`: invalid models."""

from __future__ import annotations

from typer.testing import CliRunner

from experiments.__main__ import app
from experiments.generic import peers


def test_unknown_models_are_named(monkeypatch, tmp_path):
    monkeypatch.setattr(peers, "version", lambda _: "1")
    done = CliRunner().invoke(app, ["generic", "--model", "Grids_99", "--work", str(tmp_path)])
    assert "got Grids_99" in str(done.exception)
    missing = CliRunner().invoke(app, ["generic", "--page-only", "--work", str(tmp_path)])
    assert "holds no measurements" in str(missing.exception)
