"""Medians over models, and comparisons on one model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.generic.methods import METHODS, OURS, PYGMS_MEAN_FIELD, RESTARTS
from experiments.measurements import Row

LEAST = 1e-6  # smallest error that is shown
TIE = 1e-3  # nats


def medians(models: Sequence[Row], error: str) -> dict[str, list[dict[str, Any]]]:
    """Median seconds and error of every method and setting, fastest first; a failure counts as an infinite error.

    Settings with an infinite median are left out.
    """
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in METHODS}
    for method, setting in dict.fromkeys((row["method"], row["setting"]) for m in models for row in m["rows"]):
        rows = [row for m in models for row in m["rows"] if (row["method"], row["setting"]) == (method, setting)]
        median = float(np.median([np.inf if row[error] is None else row[error] for row in rows]))
        if np.isfinite(median):
            seconds = float(np.median([row["seconds"] for row in rows]))
            found[method].append({"setting": setting, "seconds": seconds, "error": max(median, LEAST)})
    return {name: sorted(points, key=lambda p: float(p["seconds"])) for name, points in found.items() if points}


def errors(model: Row, method: str, key: str) -> list[float]:
    """Errors of a method on a model, without failures."""
    return [row[key] for row in model["rows"] if row["method"] == method and row[key] is not None]


def best_of_pygms(model: Row) -> Row | None:
    """The best answer of the mean field of pygms; None where it fails."""
    rows = [r for r in model["rows"] if r["method"] == PYGMS_MEAN_FIELD and r["log_z_error"] is not None]
    return min(rows, key=lambda r: (r["log_z_error"], r["seconds"]), default=None)


def cheapest_of_ours(model: Row) -> Row | None:
    """The fastest of our answers that is as close to log Z as `best_of_pygms`."""
    rival = best_of_pygms(model)
    rows = at_least_as_close(model, np.inf if rival is None else rival["log_z_error"])
    return min(rows, key=lambda r: float(r["seconds"]), default=None)


def at_least_as_close(model: Row, error: float) -> list[Row]:
    """Our answers, restarts included, with at most this error of log Z."""
    rows = [r for r in model["rows"] if r["method"] in (OURS, RESTARTS)]
    return [r for r in rows if r["log_z_error"] is not None and r["log_z_error"] <= error + TIE]
