"""The page: the best setting of each sampler, ratios and weights."""

from __future__ import annotations

import pytest

pytest.importorskip("dimod", reason="dimod is not installed")
page = pytest.importorskip("experiments.basins.page")

MADE_BY = {
    "command": "python -m experiments basins",
    "seconds": 1.0,
    "versions": {"mixfield": "0"},
    "peers": {"p": "1"},
}


def _sampler(method, setting, few, many, lowest):
    basins = {"0.02": many, "0.1": few}
    return {"method": method, "setting": setting, "seconds": 0.5, "reads": 9, "lowest": lowest, "basins": basins}


def test_tables(tmp_path):
    samplers = [
        _sampler("mixfield", "", 30, 60, -10.0),
        _sampler("dwave annealing", "10 sweeps", 10, 20, -9.0),
        _sampler("dwave annealing", "100 sweeps", 5, 40, -12.0),
        _sampler("dwave tabu", "1 ms a read", 1, 1, -8.0),
        _sampler("openjij annealing", "100 sweeps", 60, 2, -8.0),
    ]
    grid = {"family": "Ising grid", "size": 20, "variables": 400, "seed": 100}
    errors = dict.fromkeys(page.METHODS, 0.25)
    small = {"family": "MAX-CUT", "size": 16, "variables": 16, "seed": 100, "errors": errors}
    text = page.write_page([grid | {"samplers": samplers}, small], MADE_BY, tmp_path).read_text()
    assert "| Ising grid | 400 | 1 | 0.50 | 60 | 40 | 1 | 2 | 1.50 | -10.0; -12.0 |" in text
    assert "| Ising grid | 400 | 1 | 0.50 | 30 | 10 | 1 | 60 | 0.50 | -10.0; -12.0 |" in text
    assert "On 1 of 1 models" in text
    assert "On 0 of 1 models" in text
    assert "| MAX-CUT | 16 | 0.250 | 0.250 | 0.250 |" in text
