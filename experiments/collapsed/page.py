"""The page ``collapsed.md`` and its numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments import bootstrap
from experiments.collapsed.measure import FAMILIES, GRID, LARGE, MODEL, N_MODES, RESTARTS
from experiments.measurements import Row
from experiments.page import PageTemplate, markdown_table, write_results
from experiments.provenance import version_list

GRID_HEADS = ("family", "fields", "KL", "95 % interval", "KL, best of restarts", "seconds")
LARGE_HEADS = ("family", "seed", "bound - control", "modes", "fewest spins between two", "seconds", "control's seconds")
MODEL_HEADS = ("model", "log Z", "error of the bound", "of the estimate", "of BP", "modes", "seconds", "BP's seconds")
CLASSES = ("Pedigree", "Promedus")
TIE = 1e-3  # nats


def write_page(rows: Sequence[Row], made_by: dict[str, Any], out: Path) -> Path:
    """Write ``collapsed.json`` and ``.md`` into a folder; returns the path of the page."""
    results = {"made_by": made_by, "fields": list(rows)}
    return write_results(out, "collapsed", results, page_text(results))


def page_text(results: dict[str, Any]) -> str:
    """The page that belongs to the numbers of ``collapsed.json``."""
    by_kind = {kind: [row for row in results["fields"] if row["kind"] == kind] for kind in (GRID, MODEL, LARGE)}
    return PageTemplate.read("collapsed").fill(
        command=results["made_by"]["command"],
        restarts=RESTARTS,
        grid_modes=N_MODES[GRID],
        model_modes=N_MODES[MODEL],
        large_modes=N_MODES[LARGE],
        grids=markdown_table(GRID_HEADS, [_grid_cells(f, by_kind[GRID]) for f in FAMILIES]),
        summary=_model_summary(by_kind[MODEL]),
        models=markdown_table(MODEL_HEADS, [_model_cells(row) for row in by_kind[MODEL]]),
        large=_large_table(by_kind[LARGE]),
        versions=version_list(results["made_by"]),
    )


def _grid_cells(family: str, rows: Sequence[Row]) -> tuple[str, ...]:
    mine = [row for row in rows if row["name"] == family]
    if not mine:
        return family, *("-",) * (len(GRID_HEADS) - 1)
    divergence = [row["log_z"] - row["bound"] for row in mine]
    low, high = bootstrap.interval(divergence)
    control = np.mean([row["log_z"] - row["control"] for row in mine])
    seconds = np.mean([row["seconds"] for row in mine])
    mean = f"{np.mean(divergence):.3f}"
    return family, str(len(mine)), mean, f"{low:.3f} to {high:.3f}", f"{control:.2f}", f"{seconds:.2f}"


def _error(row: Row, key: str) -> float:
    """Distance from log Z; infinite where there is no answer."""
    value = row[key]
    return abs(value - row["log_z"]) if value is not None and np.isfinite(value) else np.inf


def _model_summary(rows: Sequence[Row]) -> str:
    """How often we are closer than BP, and the median errors of two classes."""
    if not rows:
        return "Not measured."
    others = "On every second model, from the second on, with which no constants were settled, the bound"
    answers = (
        (rows, "bound", "The bound"),
        (rows[1::2], "bound", others),
        (rows, "estimate", "The estimate (not a bound)"),
    )
    return "\n\n".join(_summary_of(*answer) for answer in answers if answer[0])


def _summary_of(rows: Sequence[Row], key: str, words: str) -> str:
    closer = sum(_error(row, key) <= _error(row, "control") + TIE for row in rows)
    medians = [
        f"{name} {_median(rows, name, lambda row: _error(row, key)):.3f}"
        for name in CLASSES
        if any(row["name"].startswith(name) for row in rows)
    ]
    share = f"{words} is closer to log Z than BP, or within {TIE} nats of it, on {closer} of {len(rows)} models."
    return f"{share} Median error in nats: {', '.join(medians)}." if medians else share


def _median(rows: Sequence[Row], name: str, value: Callable[[Row], float]) -> float:
    return float(np.median([value(row) for row in rows if row["name"].startswith(name)]))


def _model_cells(row: Row) -> tuple[str, ...]:
    keys = ("bound", "estimate", "control")
    errors = (f"{row[key] - row['log_z']:+.3f}" if np.isfinite(row[key]) else "fails" for key in keys)
    times = (f"{row['seconds']:.2f}", f"{row['control_seconds']:.2f}")
    return row["name"], f"{row['log_z']:.3f}", *errors, str(row["modes"]), *times


def _large_table(rows: Sequence[Row]) -> str:
    return markdown_table(LARGE_HEADS, [_large_cells(row) for row in rows]) if rows else "Not measured in this run."


def _large_cells(row: Row) -> tuple[str, ...]:
    gain = f"{row['bound'] - row['control']:+.2f}"
    times = (f"{row['seconds']:.2f}", f"{row['control_seconds']:.2f}")
    return row["name"], str(row["source"]), gain, str(row["modes"]), str(row["nearest"]), *times
