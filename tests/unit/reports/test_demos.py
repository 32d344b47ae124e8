"""The demos write pages; ``mixfield demo`` itself is tested with the command line."""

from __future__ import annotations

import pytest
from page_reading import facts_of

import mixfield as mf
from mixfield.reports import demos


def test_graph(tmp_path):
    steps = []
    summary = demos.graph(tmp_path / "new", progress=steps.append)
    assert steps[-1] == demos.STEPS
    assert {path.name for path in (tmp_path / "new").iterdir()} == {
        "four-zones.uai",
        "result.npz",
        "report.html",
    }
    assert mf.read_uai(summary["model"]).n == 256
    assert summary["mean_field_log_z"] < summary["mixture_log_z"] < summary["exact_log_z"]


def test_people(tmp_path, monkeypatch):
    monkeypatch.setattr(demos, "FRAMES", 2)
    summary = demos.people(tmp_path, solver=mf.Solver(threads=1), progress=lambda _: None)
    assert len(list((tmp_path / "modes").iterdir())) == summary["frames"] == 2
    facts = facts_of((tmp_path / "report.html").read_text())
    assert [frame["chosen"] for frame in facts["frames"]] == summary["chosen_modes"]
    assert len(facts["cameras"]) == 2


def test_photograph(tmp_path):
    pytest.importorskip("skimage")
    summary = demos.photograph(tmp_path, progress=lambda _: None)
    facts = facts_of((tmp_path / "report.html").read_text())
    assert [mode["weight"] for mode in facts["modes"]] == pytest.approx(summary["weights"])
    assert [label["name"] for label in facts["labels"]] == ["background", "astronaut"]
    assert facts["scribbles"] is True
