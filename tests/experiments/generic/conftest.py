"""Measurements of two models: on the second, pygms fails and ours is slow."""

from __future__ import annotations

import pytest

from experiments.generic.methods import EXACT, OURS, PYGMS_MEAN_FIELD, RESTARTS, SAMPLER


def row(method, setting, seconds, log_z_error, marginal_error):
    found = {"method": method, "setting": setting, "seconds": seconds}
    return found | {"log_z_error": log_z_error, "marginal_error": marginal_error}


@pytest.fixture
def models():
    first = [
        row(OURS, "1 modes", 0.1, 0.5, 0.05),
        row(OURS, "4 modes", 0.2, 0.1, 0.01),
        row(RESTARTS, "30 starts", 0.05, 1.0, 0.2),
        row(SAMPLER, "100 temperatures", 0.1, 0.2, 0.02),
        row(EXACT, "junction tree", 1.0, 0.0, 0.0),
        row(PYGMS_MEAN_FIELD, "5 sweeps", 0.4, 1.0, 0.3),
    ]
    second = [
        row(OURS, "1 modes", 0.3, 0.5, 0.05),
        row(OURS, "4 modes", 0.6, 0.4, 0.04),
        row(RESTARTS, "30 starts", 0.05, 0.3, 0.2),
        row(SAMPLER, "100 temperatures", 0.1, 0.01, 0.02),
        row(EXACT, "junction tree", 3.0, 0.0, 0.0),
        row(PYGMS_MEAN_FIELD, "5 sweeps", 0.1, None, None),
    ]
    return [{"model": name, "variables": 9, "log_z": 1.0, "rows": rows} for name, rows in (("A", first), ("B", second))]
