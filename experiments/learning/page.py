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
        annotators=markdown_table(("", "GED", "worst drawing", "matched IoU", "NLL per pixel"), _annotators(results)),
        stills=markdown_table(
            ("", "NLL", "NLL of single pixels", "mean IoU", "NLL relative to softmax", "mean IoU above softmax"),
            _stills(results),
        ),
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


def _annotators(results: dict[str, Any]) -> list[tuple[str, ...]]:
    rows, cells = results["annotators"], list[tuple[str, ...]]()
    for method in _methods(rows):
        ged, iou, nll = (_values(rows, method, key) for key in ("ged", "matched_iou", "nll"))
        cells.append((method, f"{ged.mean():.3f}", f"{ged.max():.3f}", f"{iou.mean():.3f}", f"{nll.mean():.3f}"))
    return cells


def _stills(results: dict[str, Any]) -> list[tuple[str, ...]]:
    """Means over images, and differences to the first method with intervals over images."""
    rows = results["stills"]
    methods, cells = _methods(rows), list[tuple[str, ...]]()
    softmax, scores = (_values(rows, methods[0], key) for key in ("nll", "iou"))
    for method in methods:
        nll, pixel, iou = (_values(rows, method, key) for key in ("nll", "pixel_nll", "iou"))
        means = (f"{nll.mean():.4f}", f"{pixel.mean():.4f}", f"{100 * iou.mean():.2f}")
        cells.append((method, *means, _percent((nll - softmax) / softmax.mean()), _percent(iou - scores)))
    return cells


def _percent(change: np.ndarray[Any, np.dtype[np.float64]]) -> str:
    low, high = bootstrap.interval(change)
    return f"{100 * change.mean():+.1f} % [{100 * low:+.1f}, {100 * high:+.1f}]"
