"""One model: errors of every run, failures included."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from experiments.generic import measure as module
from experiments.generic.measure import MODELS, measure, tasks, total_variation
from mixfield.io import write_uai


def _fail():
    raise ZeroDivisionError


@pytest.fixture
def path(tmp_path, monkeypatch):
    graph = mf.datasets.random_ising(3, rng=0)
    exact = mf.exact(graph)
    target = tmp_path / "small.uai"
    write_uai(target, graph)
    (tmp_path / "small.uai.PR").write_text(f"PR\n{exact.log_z / np.log(10)}\n")
    beliefs = " ".join(f"2 {a} {b}" for a, b in exact.marginals.reshape(-1, 2))
    (tmp_path / "small.uai.MAR").write_text(f"MAR\n9 {beliefs}\n")
    monkeypatch.setattr(module, "pyagrum_runs", lambda _: [("pyAgrum, exact marginals", "fails", _fail)])
    monkeypatch.setattr(module, "pygms_runs", lambda _: [])
    return target


def test_row(path):
    row = measure(path)
    assert (row["model"], row["variables"]) == ("small", 9)
    found = {(r["method"], r["setting"]): r for r in row["rows"]}
    assert found["mixfield, exact", "junction tree"]["log_z_error"] < 1e-4
    assert found["mixfield", "16 modes"]["log_z_error"] <= found["mixfield", "1 modes"]["log_z_error"]
    assert found["pyAgrum, exact marginals", "fails"]["log_z_error"] is None
    assert found["pyAgrum, exact marginals", "fails"]["marginal_error"] is None


def test_total_variation_of_padded_marginals():
    assert total_variation([np.array([0.5, 0.5, 0.0])], [np.array([0.75, 0.25])]) == 0.25


def test_tasks(tmp_path):
    assert list(tasks(tmp_path)) == list(MODELS)
    assert tasks(tmp_path)["CSP_11"] == (tmp_path / "uai" / "uai2014" / "CSP_11.uai",)
