"""The page ``occupancy.md``, its figure and its numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.curves import Curve, Panel, write_curves
from experiments.page import PageTemplate, markdown_table, write_results
from experiments.people.moda import ONE_METRE, THRESHOLD_HEADS, THRESHOLDS
from experiments.people.pets import ANNOTATED

DRAWN = ("best of 4 modes", "control", "mean field")
CRITERIA = ("field", "neighbourhood", "paper")
SCENE_HEADS = ("people", "cameras", "mean field wrong", "field (ours)", "neighbourhood entropy", "paper's rule")


def write_page(results: dict[str, Any], out: Path) -> Path:
    """Write ``occupancy.json``, ``.md`` and ``.svg`` into a folder; returns the path of the page."""
    page = write_results(out, "occupancy", results, page_text(results))
    write_curves(out / "occupancy.svg", [_panel(part) for part in results["pets"]])
    return page


def page_text(results: dict[str, Any]) -> str:
    """The page that belongs to the numbers of ``occupancy.json``."""
    template = PageTemplate.read("occupancy")
    return template.fill(
        annotated=ANNOTATED,
        recordings="\n\n".join(_recording(template, part) for part in results["pets"]),
        scenes=markdown_table(SCENE_HEADS, [_scene_cells(row) for row in results["synthetic"]]),
    )


def _recording(template: PageTemplate, part: dict[str, Any]) -> str:
    """The section of one selection of cameras."""
    heads = ["", *THRESHOLD_HEADS, "at 1 m: interval, misses, false positives"]
    seconds = part["median_seconds"]
    return template.fill(
        "recording",
        title=_title(part),
        mean_field=f"{seconds['mean field']:.2f}",
        modes=f"{seconds['modes']:.2f}",
        table=markdown_table(heads, [_cells(name, points) for name, points in part["curves"].items()]),
    )


def _cells(name: str, points: list[dict[str, Any]]) -> list[str]:
    point = points[ONE_METRE]
    low, high = point["interval"]
    detail = f"{low:.3f} to {high:.3f}, {point['misses']}, {point['false_positives']}"
    return [name, *(f"{p['moda']:.3f}" for p in points), detail]


def _scene_cells(row: dict[str, Any]) -> list[str]:
    hits = (f"{row['hits'][name]:.2f}" for name in CRITERIA)
    return [str(row["people"]), str(row["cameras"]), f"{row['mean_field_wrong']} of {row['frames']}", *hits]


def _title(part: dict[str, Any]) -> str:
    first, last, count = part["frames"]
    views = " and ".join(str(view) for view in part["views"])
    selected = "" if count == last - first + 1 else f", {count} of them"
    return f"PETS 2009 S2.L1, view {views}, frames {first} to {last}{selected}"


def _panel(part: dict[str, Any]) -> Panel:
    curves = [
        Curve(name, THRESHOLDS, [p["moda"] for p in points], [p["interval"] for p in points])
        for name in DRAWN
        for points in [part["curves"][name]]
    ]
    return Panel(_title(part), "distance threshold (m)", "MODA", curves, top=1.0)
