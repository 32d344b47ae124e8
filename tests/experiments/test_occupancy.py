"""`python -m experiments occupancy`: the files of its page, and MODA on a few frames of PETS."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from experiments import occupancy
from experiments.__main__ import app


def test_page(tmp_path):
    pytest.importorskip("matplotlib")
    said = []
    row = occupancy.synthetic_hits(2, 1, said.append, scenes=1, frames=2)
    assert row["frames"] == 2
    assert set(row["hits"]) == {"field", "neighbourhood", "paper"}
    curve = [
        {"threshold": t, "moda": 0.5, "interval": [0.4, 0.6], "misses": 1, "false_positives": 2}
        for t in occupancy.THRESHOLDS
    ]
    names = ["mean field", "best of 4 modes", "control"]
    part = {"views": [1], "frames": [0, 3, 2], "median_seconds": {"mean field": 0.1, "modes": 1}}
    page = occupancy.write_page(
        {"pets": [part | {"curves": dict.fromkeys(names, curve)}], "synthetic": [row]}, tmp_path
    )
    assert "| best of 4 modes | 0.500 |" in page.read_text()
    assert "## PETS 2009 S2.L1, view 1, frames 0 to 3, 2 of them\n" in page.read_text()
    assert (tmp_path / "occupancy.svg").read_text().startswith("<?xml")
    assert json.loads((tmp_path / "occupancy.json").read_text())["synthetic"] == [row]


@pytest.mark.slow
def test_command_on_pets(data, tmp_path):
    folders = ["--data", str(data), "--out", str(tmp_path), "--work", str(tmp_path)]
    done = CliRunner().invoke(app, ["occupancy", "--frames", "8", "--scenes", "1", *folders])
    assert done.exit_code == 0, done.output
    results = json.loads((tmp_path / "occupancy.json").read_text())
    at_one_metre = {
        name: points[occupancy.THRESHOLDS.index(1.0)]["moda"] for name, points in results["pets"][0]["curves"].items()
    }
    assert at_one_metre["mean field"] > 0.85
