"""The page ``generic.md``, its figure and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from experiments.claims import Claim, table
from experiments.generic.claims import claims
from experiments.generic.figure import write_figure
from experiments.generic.measure import MODELS
from experiments.generic.methods import METHODS, OURS, PYGMS_MEAN_FIELD, RESTARTS, SAMPLER
from experiments.generic.sampling import CHAINS
from experiments.generic.summary import best_of_pygms, cheapest_of_ours, errors, medians
from experiments.measurements import Row
from experiments.page import PageTemplate, markdown_table, write_results
from experiments.provenance import version_list

MEDIAN_HEADS = ("method", "setting", "seconds", "error of log Z", "error of marginals")
MODEL_HEADS = ("model", "variables", OURS, "restarts", PYGMS_MEAN_FIELD, "AIS", "pygms, seconds", "ours, seconds")


def write_page(models: Sequence[Row], made_by: dict[str, Any], out: Path) -> Path:
    """Write ``generic.json``, ``.md``, ``.svg`` and ``.png`` into a folder; returns the path of the page."""
    results = {"made_by": made_by, "claims": [asdict(c) for c in claims(models)], "models": list(models)}
    page = write_results(out, "generic", results, page_text(results))
    write_figure(models, out)
    return page


def page_text(results: dict[str, Any]) -> str:
    """The page that belongs to the numbers of ``generic.json``."""
    made_by, models = results["made_by"], results["models"]
    return PageTemplate.read("generic").fill(
        command=made_by["command"],
        done=len(models),
        total=len(MODELS),
        claims=table([Claim(**claim) for claim in results["claims"]]),
        chains=CHAINS,
        medians=markdown_table(MEDIAN_HEADS, _median_rows(models)),
        models=markdown_table(MODEL_HEADS, [_model_cells(model) for model in models]),
        versions=version_list({"versions": {**made_by["versions"], **made_by["peers"]}}),
    )


def _median_rows(models: Sequence[Row]) -> list[tuple[str, ...]]:
    """A row for every method and setting, in the order of `METHODS`."""
    by_error = [
        {(name, point["setting"]): point for name, points in medians(models, key).items() for point in points}
        for key in ("log_z_error", "marginal_error")
    ]
    settings = dict.fromkeys((row["method"], row["setting"]) for row in models[0]["rows"])
    ordered = sorted(settings, key=lambda setting: METHODS.index(setting[0]))
    return [_median_cells(*setting, [found.get(setting) for found in by_error]) for setting in ordered]


def _median_cells(method: str, setting: str, points: Sequence[dict[str, Any] | None]) -> tuple[str, ...]:
    seconds = [point["seconds"] for point in points if point is not None]
    if not seconds:
        return method, setting, "", "fails on most", ""
    return method, setting, f"{seconds[0]:.3g}", *("" if p is None else f"{p['error']:.3g}" for p in points)


def _model_cells(model: Row) -> list[str]:
    answers = [_best_errors(model, name) for name in (OURS, RESTARTS, PYGMS_MEAN_FIELD, SAMPLER)]
    times = [
        "fails" if row is None else f"{row['seconds']:.3g}" for row in (best_of_pygms(model), cheapest_of_ours(model))
    ]
    return [model["model"], str(model["variables"]), *answers, *times]


def _best_errors(model: Row, method: str) -> str:
    found = [errors(model, method, key) for key in ("log_z_error", "marginal_error")]
    return " / ".join(f"{min(values):.3g}" if values else "fails" for values in found)
