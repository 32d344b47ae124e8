"""One field of each kind: bounds, controls and seconds."""

from __future__ import annotations

import numpy as np

import mixfield as mf
from experiments.collapsed import measure as module
from experiments.collapsed.measure import FAMILIES, GRID, MODEL, measure, tasks
from mixfield.io import write_uai


def test_tasks(tmp_path):
    found = tasks(tmp_path)
    assert found["13 x 13 mixed weller 100"] == (GRID, "mixed weller", 100)
    assert len(found) == 22 * len(FAMILIES)
    assert set(tasks(tmp_path, (GRID,))) < set(found)


def test_a_grid(monkeypatch):
    monkeypatch.setattr(module, "N_MODES", {GRID: 2})
    row = measure(GRID, "attractive mmmf", 100)
    assert row["control"] <= row["bound"] <= row["log_z"]
    assert row["modes"] == 2
    assert row["nearest"] >= 1
    assert row["seconds"] > 0


def test_a_model(tmp_path):
    graph = mf.datasets.random_ising(3, rng=0)
    path = tmp_path / "small.uai"
    write_uai(path, graph)
    (tmp_path / "small.uai.PR").write_text(f"PR\n{mf.exact(graph).log_z / np.log(10)}\n")
    assert tasks(tmp_path.parent, (MODEL,)) == {}
    row = measure(MODEL, "small", path)
    assert row["bound"] <= row["log_z"] + 1e-4
    assert row["bound"] <= row["estimate"] < row["log_z"] + 1.0
    assert (row["name"], row["source"]) == ("small", "small.uai")
