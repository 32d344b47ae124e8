"""Measurements in files: runs resume, and broken files are named."""

from __future__ import annotations

import pytest

from experiments.measurements import SaveMeasurement, items, load_measurements
from mixfield import batch
from mixfield.errors import MixfieldError


def _square(x: int) -> dict[str, int]:
    return {"square": x * x}


def _fail(x: int) -> dict[str, int]:
    raise AssertionError(x)


def test_a_stopped_run_resumes(tmp_path):
    """What is done is not done again, and measurements can be loaded in between."""
    tasks = {f"task {k}": (k,) for k in range(5)}
    outcomes = batch.map(SaveMeasurement(_square), items(tasks), tmp_path)
    assert [next(outcomes).name for _ in range(2)] == ["task 0", "task 1"]
    assert load_measurements(tasks, tmp_path) == {"task 0": {"square": 0}, "task 1": {"square": 1}}
    outcomes.close()
    again = batch.map(SaveMeasurement(_square), items(tasks), tmp_path)
    assert [outcome.fresh for outcome in again] == [False] * 2 + [True] * 3
    assert [row["square"] for row in load_measurements(tasks, tmp_path).values()] == [0, 1, 4, 9, 16]
    assert all(outcome.failure is None for outcome in batch.map(SaveMeasurement(_fail), items(tasks), tmp_path))


def test_missing_and_broken_measurements_are_named(tmp_path):
    with pytest.raises(MixfieldError, match="holds no measurements"):
        load_measurements(["task"], tmp_path)
    (tmp_path / "task.json").write_text("{")
    with pytest.raises(MixfieldError, match=r"task\.json is no measurement"):
        load_measurements(["task"], tmp_path)
