"""The page ``interactive.md`` and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.interactive.measure import CARELESS, MOST_CLICKS
from experiments.interactive.summary import CLICK_HEADS, STROKE_HEADS, click_rows, stroke_rows
from experiments.measurements import Row
from experiments.page import PageTemplate, markdown_table, write_results
from experiments.provenance import version_list


def write_page(rows: Sequence[Row], made_by: dict[str, Any], out: Path) -> Path:
    """Write ``interactive.json`` and ``.md`` into a folder; returns the path of the page."""
    results = {"made_by": made_by, "rows": list(rows)}
    return write_results(out, "interactive", results, page_text(results), indent=None)


def page_text(results: dict[str, Any]) -> str:
    """The page that belongs to the numbers of ``interactive.json``."""
    rows, template = results["rows"], PageTemplate.read("interactive")
    careless = markdown_table(CLICK_HEADS, click_rows(rows, CARELESS))
    return template.fill(
        command=results["made_by"]["command"],
        photos=len({row["photo"] for row in rows}),
        clicks=MOST_CLICKS,
        strokes=markdown_table(STROKE_HEADS, stroke_rows(rows)),
        perfect=markdown_table(CLICK_HEADS, click_rows(rows, "perfect")),
        careless=careless,
        versions=version_list(results["made_by"]),
    )
