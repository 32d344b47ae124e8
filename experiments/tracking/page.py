"""The page ``tracking.md``, its figure and its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.curves import Curve, Panel, write_curves
from experiments.measurements import Row
from experiments.page import PageTemplate, markdown_table, write_results
from experiments.people.moda import ONE_METRE, THRESHOLD_HEADS, THRESHOLDS
from experiments.tracking.measure import BEST_MODE, KSP, KSP_STAR, MEAN_FIELD, METHODS, ORACLE_KSP
from experiments.tracking.sources import SECONDS, WINDOWS

Methods = dict[str, list[Row]]  # rows of one kind of sequence, by method

DRAWN = (KSP_STAR, KSP, BEST_MODE, MEAN_FIELD, ORACLE_KSP)
SHADED = (KSP_STAR, KSP)  # with intervals; more of them would overlap
COLUMNS = {
    "people": "people_per_frame",
    "tracks": "tracks",
    "IDF1": "idf1",
    "switches": "switches",
    "other than heaviest": "frames_not_heaviest",
    "gap %": "gap_percent",
    "seconds": "seconds",
}


def write_page(rows: Iterable[Row], made_by: dict[str, Any], out: Path) -> Path:
    """Write ``tracking.json``, ``.md`` and ``.svg`` into a folder; returns the path of the page."""
    sources: dict[str, Methods] = {}
    for row in rows:
        sources.setdefault(row["source"], {}).setdefault(row["way"], []).append(row)
    results = {"made_by": made_by, "sources": sources}
    page = write_results(out, "tracking", results, page_text(results))
    write_curves(out / "tracking.svg", [_panel(name, methods) for name, methods in sources.items()])
    return page


def page_text(results: dict[str, Any]) -> str:
    """The page that belongs to the numbers of ``tracking.json``."""
    template = PageTemplate.read("tracking")
    sections = [_section(template, name, methods) for name, methods in results["sources"].items()]
    return template.fill(
        window=WINDOWS.length,
        overlap=WINDOWS.overlap,
        seconds=f"{SECONDS:g}",
        sources="\n\n".join(sections),
        command=results["made_by"]["command"],
    )


def _section(template: PageTemplate, name: str, methods: Methods) -> str:
    """The section of one kind of sequence."""
    missing = "; ".join(method for method in METHODS if method not in methods)
    return template.fill(
        "source",
        title=_title(name, methods),
        table=markdown_table(
            ["", *THRESHOLD_HEADS, "95 % at 1 m", *COLUMNS], [_cells(method, rows) for method, rows in methods.items()]
        ),
        differences=_differences(template, methods),
        missing=template.fill("missing", methods=missing) if missing else "",
    )


def _title(name: str, methods: Methods) -> str:
    count = max(len(rows) for rows in methods.values())
    return name if count == 1 else f"{name}, mean of {count}"


def _cells(method: str, rows: Sequence[Row]) -> list[str]:
    """Means over ``rows``; the interval at one metre only of a single row."""
    low, high = rows[0]["curve"][ONE_METRE]["interval"]
    interval = f"{low:.3f} to {high:.3f}" if len(rows) == 1 else ""
    tracks = [row["tracks"] for row in rows if "tracks" in row]
    return [
        method,
        *(f"{moda:.3f}" for moda in _moda(rows)),
        interval,
        *(_mean(tracks, key) for key in COLUMNS.values()),
    ]


def _moda(rows: Sequence[Row]) -> list[float]:
    """Means over ``rows`` at each threshold."""
    return np.mean([[point["moda"] for point in row["curve"]] for row in rows], axis=0).tolist()


def _mean(tracks: Sequence[dict[str, Any]], key: str) -> str:
    values = [summary[key] for summary in tracks if key in summary]
    return f"{round(float(np.mean(values)), 4):.3g}" if values else ""


def _differences(template: PageTemplate, methods: Methods) -> str:
    """Mistakes of KSP and KSP* in the frames in which KSP* chooses another mode than the heaviest."""
    if not {KSP, KSP_STAR} <= set(methods):
        return ""
    chosen = [np.array(row["modes"]) > 0 for row in methods[KSP_STAR]]
    ksp, ksp_star = (
        sum(int(np.array(row["mistakes"])[frames].sum()) for row, frames in zip(methods[name], chosen, strict=False))
        for name in (KSP, KSP_STAR)
    )
    frames = sum(int(one.sum()) for one in chosen)
    return template.fill("differences", frames=frames, ksp=ksp, ksp_star=ksp_star)


def _panel(name: str, methods: Methods) -> Panel:
    curves = []
    for method in (method for method in DRAWN if method in methods):
        rows = methods[method]
        shaded = method in SHADED and len(rows) == 1
        intervals = [point["interval"] for point in rows[0]["curve"]] if shaded else ()
        curves.append(Curve(method, THRESHOLDS, _moda(rows), intervals, dashed=method == ORACLE_KSP))
    return Panel(_title(name, methods), "distance threshold (m)", "MODA", curves, top=1.0, bottom=0.5)
