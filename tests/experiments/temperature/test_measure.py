"""The measurements of the page and how they are collected."""

from __future__ import annotations

from experiments.temperature.measure import collect, measure, tasks, temperatures
from experiments.temperature.models import SHOWN
from experiments.temperature.photos import synthetic_photo


def test_temperatures_hold_those_that_are_drawn():
    for quick in (False, True):
        steps = temperatures(quick=quick)
        assert steps == sorted(steps)
        assert set(SHOWN) <= set(steps)


def test_tasks_are_three_models_five_unaries_and_random_graphs():
    photo = synthetic_photo().reduced(20)
    kinds = [values[0] for values in tasks(photo, quick=True).values()]
    assert [kinds.count(kind) for kind in ("model", "unary", "graph")] == [3, 5, 4]
    assert len(tasks(photo, quick=False)) == 3 + 5 + 8


def test_rows_are_collected_by_kind(temperature_rows):
    results = collect(temperature_rows, synthetic_photo().reduced(20), {"seeds": "0"})
    assert list(results["models"]) == ["model 1", "model 2", "model 3"]
    assert (len(results["with_unaries"]), len(results["graphs"])) == (1, 1)
    assert results["shape"] == [20, 20]
    assert measure("unary", 0.0)["what"] == "unary"
