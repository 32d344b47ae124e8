"""Which models are measured with which limit, and how the limit counts."""

from __future__ import annotations

import time

import pytest

import mixfield as mf

pytest.importorskip("dimod", reason="dimod is not installed")
measure = pytest.importorskip("experiments.uai.measure")


def test_models_that_finished_are_not_measured_again(tmp_path):
    folder = tmp_path / "uai" / "uai2014"
    folder.mkdir(parents=True)
    for name in ("A_1", "B_1", "B_2"):
        (folder / f"{name}.uai").touch()
    wanted = measure.tasks(tmp_path, [60.0], ["_1"])
    assert list(wanted) == ["A_1 60", "B_1 60"]
    rows = [{"model": "A_1", "finished": True}, {"model": "B_1", "finished": False}]
    assert list(measure.unfinished(wanted, rows)) == ["B_1 60"]


def test_the_limit_is_in_processor_seconds(monkeypatch):
    """With a processor clock that stands still, no limit is ever reached."""
    monkeypatch.setattr(time, "process_time", lambda: 0.0)
    found = measure._infer(mf.datasets.random_ising(4, rng=1), 1e-9)
    assert len(found.modes) > 1
    assert not any("time" in note for note in found.notes)
