"""The page ``learning.md`` and its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments import bootstrap
from experiments.measurements import Row
from experiments.page import PageTemplate, markdown_table, write_results
from experiments.provenance import version_list

PARTS = ("planted", "annotators", "stills")


def write_page(rows: Mapping[str, Sequence[Row]], made_by: dict[str, Any], out: Path) -> Path:
    """Write ``learning.json`` and ``.md`` into a folder; returns the path of the page."""
    results = {"made_by": made_by, **{part: list(rows[part]) for part in PARTS}}
    return write_results(out, "learning", results, page_text(results))


def page_text(results: dict[str, Any]) -> str:
    """The page that belongs to the numbers of ``learning.json``."""
    made_by = results["made_by"]
    return PageTemplate.read("learning").fill(
        command=made_by["command"],
        planted=markdown_table(("seed", "exponent", "smoothness", "appearance", "worst error"), _planted(results)),
        annotators=markdown_table(("", "GED", "matched IoU", "NLL per pixel"), _means(results, "annotators")),
        stills=markdown_table(("", "NLL per pixel", "mean IoU", "NLL against softmax, 95 %"), _stills(results)),
        versions=version_list(made_by),
    )


def _planted(results: dict[str, Any]) -> list[tuple[str, ...]]:
    return [
        (str(row["seed"]), *(f"{value:.3f}" for value in row["found"].values()), f"{100 * row['worst']:.1f} %")
        for row in results["planted"]
    ]


def _methods(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["method"] for row in rows))


def _values(rows: Sequence[Row], method: str, key: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([row[key] for row in rows if row["method"] == method])


def _means(results: dict[str, Any], part: str) -> list[tuple[str, ...]]:
    rows = results[part]
    keys = ("ged", "matched_iou", "nll")
    return [(m, *(f"{_values(rows, m, key).mean():.4f}" for key in keys)) for m in _methods(rows)]


def _stills(results: dict[str, Any]) -> list[tuple[str, ...]]:
    rows = results["stills"]
    methods, cells = _methods(rows), list[tuple[str, ...]]()
    for method in methods:
        nll, iou = (_values(rows, method, key).mean() for key in ("nll", "iou"))
        change = _values(rows, method, "nll") - _values(rows, methods[0], "nll")
        low, high = bootstrap.interval(change)
        cells.append((method, f"{nll:.4f}", f"{iou:.4f}", f"{low:+.4f} to {high:+.4f}"))
    return cells
