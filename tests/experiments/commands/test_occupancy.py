"""`python -m experiments occupancy` on a few frames of PETS."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from experiments.__main__ import app
from experiments.people.moda import ONE_METRE


@pytest.mark.slow
def test_command_on_pets(data, tmp_path):
    folders = ["--data", str(data), "--out", str(tmp_path), "--work", str(tmp_path)]
    done = CliRunner().invoke(app, ["occupancy", "--frames", "8", "--scenes", "1", *folders])
    assert done.exit_code == 0, done.output
    results = json.loads((tmp_path / "occupancy.json").read_text())
    at_one_metre = {name: points[ONE_METRE]["moda"] for name, points in results["pets"][0]["curves"].items()}
    assert at_one_metre["mean field"] > 0.85
