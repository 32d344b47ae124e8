"""One drawing of the four zones."""

from __future__ import annotations

from experiments.motivation.measure import measure, tasks


def test_tasks_are_named_by_their_seeds():
    assert tasks(2) == {"seed 0": (0,), "seed 1": (1,)}


def test_two_modes_are_closer_to_the_posterior():
    row = measure(1, size=8)
    assert row["seed"] == 1
    assert sum(row["weights"]) == 1
    assert 0 < row["kl_two_modes"] <= row["kl_mean_field"]
    assert row["marginal_error_two_modes"] < row["marginal_error_mean_field"]
