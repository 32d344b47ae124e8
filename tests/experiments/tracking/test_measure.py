"""Every method on a short walk."""

from __future__ import annotations

import pytest

from experiments.tracking.measure import METHODS, measure, tasks
from experiments.tracking.sources import SyntheticWalk


@pytest.mark.parametrize("method", METHODS)
def test_every_method_on_a_short_walk(method):
    row = measure(SyntheticWalk(seed=0, frames=6), method)
    assert row["way"] == method
    assert ("tracks" in row) == ("KSP" in method)
    assert row.get("tracks", {}).get("violations", 0) == 0
    assert row["curve"][-1]["moda"] > 0.5
    assert len(row.get("mistakes", range(6))) == 6


def test_names_of_tasks_are_names_of_files():
    names = list(tasks([SyntheticWalk(0), SyntheticWalk(1)]))
    assert len(names) == 2 * len(METHODS)
    assert not any("*" in name for name in names)
