"""One field: every method at every number of modes."""

from __future__ import annotations

from experiments.synthetic.families import families
from experiments.synthetic.measure import mode_counts, tasks
from experiments.synthetic.methods import BASELINE, METHODS


def test_no_mixture_is_above_the_truth(rows):
    for row in rows:
        assert set(row["curves"]) == {*METHODS, BASELINE}
        for curve in row["curves"].values():
            assert max(curve["log_z"]) <= row["exact_log_z"] + 1e-3


def test_counts_and_order_of_tasks():
    """All families have as many instances wherever the run is interrupted."""
    assert mode_counts(200) == [1, 2, 4, 8, 16, 32, 64, 128, 200]
    assert mode_counts(128)[-2:] == [64, 128]
    names = list(tasks(families(), 3, 200))
    assert len(names) == 48
    assert all(name.endswith("-000") for name in names[:16])
    assert {name.rsplit("-", 2)[1] for name in names} == {"128", "200"}
    assert all("-16-" in name for name in tasks(families(), 3, 16))
