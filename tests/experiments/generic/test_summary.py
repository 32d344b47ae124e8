"""Medians over models, and comparisons on one model."""

from __future__ import annotations

import pytest

from experiments.generic.methods import EXACT, OURS, PYGMS_MEAN_FIELD, SAMPLER
from experiments.generic.summary import at_least_as_close, best_of_pygms, cheapest_of_ours, errors, medians


def test_medians(models):
    found = medians(models, "log_z_error")
    assert [point["setting"] for point in found[OURS]] == ["1 modes", "4 modes"]
    assert found[SAMPLER][0]["error"] == pytest.approx(0.105)
    assert found[EXACT][0]["error"] == 1e-6  # the smallest that is shown
    assert PYGMS_MEAN_FIELD not in found  # it fails on one of two models


def test_comparison_with_pygms(models):
    first, second = models
    assert best_of_pygms(first)["log_z_error"] == 1.0
    assert cheapest_of_ours(first)["seconds"] == 0.05
    assert best_of_pygms(second) is None
    assert errors(second, PYGMS_MEAN_FIELD, "log_z_error") == []
    assert len(at_least_as_close(first, 0.5)) == 2
