"""The page ``uai.md`` and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.measurements import Row
from experiments.page import PageTemplate, markdown_table, write_results
from experiments.provenance import version_list
from experiments.uai.measure import ANSWERS, BOUND, BP, ENERGIES, ESTIMATE, MOST_MODES, OURS

ENERGY_HEADS = ("model", "variables", *ENERGIES, *(f"seconds, {name}" for name in ENERGIES))
TIE = 1e-6  # of an energy, relative


def write_page(rows: Sequence[Row], made_by: dict[str, Any], out: Path) -> Path:
    """Write ``uai.json`` and ``.md`` into a folder; returns the path of the page."""
    results = {"made_by": made_by, "models": list(rows)}
    return write_results(out, "uai", results, page_text(results))


def page_text(results: dict[str, Any]) -> str:
    """The page that belongs to the numbers of ``uai.json``."""
    made_by, rows = results["made_by"], results["models"]
    template = PageTemplate.read("uai")
    limits = sorted({row["limit"] for row in rows})
    sections = [_section(template, rows, limit) for limit in limits]
    return template.fill(
        command=made_by["command"],
        modes=MOST_MODES,
        limits=" and ".join(f"{limit:g} s" for limit in limits),
        note=made_by["note"],
        sections="\n\n".join(sections),
        versions=version_list({"versions": {**made_by["versions"], **made_by["peers"]}}),
    )


def _section(template: PageTemplate, every: Sequence[Row], limit: float) -> str:
    rows = [row for row in every if row["limit"] == limit]
    closer = sum(_value(row, ESTIMATE, "pr") <= _value(row, BP, "pr") + 1e-4 for row in rows)
    others = [name for name in ENERGIES if name != OURS]
    missed = [row["model"] for row in rows if any(_is_lower(row, name) for name in others)]
    return template.fill(
        "limit",
        limit=f"{limit:g}",
        count=len(rows),
        others=_others(every, limit),
        closer=closer,
        pr=_scores(rows, "pr"),
        mar=_scores(rows, "mar"),
        energies=markdown_table(ENERGY_HEADS, [_energy_cells(row) for row in rows]),
        lowest=len(rows) - len(missed),
        exceptions=f" (not on {', '.join(missed)})" if missed else "",
    )


def _others(rows: Sequence[Row], limit: float) -> str:
    """What is known of models that were measured with smaller limits only."""
    measured = {row["model"] for row in rows if row["limit"] >= limit}
    smaller = [row for row in rows if row["limit"] < limit and row["model"] not in measured]
    finished = [row for row in smaller if row["finished"]]
    left = [row for row in smaller if not row["finished"]]
    said = (
        [f"{len(finished)} further models had finished within a smaller limit: the same answers."] if finished else []
    )
    if left:
        names, worst = ", ".join(row["model"] for row in left), max(_value(row, BOUND, "pr") for row in left)
        said.append(f"Not measured with this limit: {names}; PR of their bounds was at most {worst:.4f} before.")
    return " ".join(said)


def _value(row: Row, name: str, key: str) -> float:
    value = row["answers"][name][key]
    return np.inf if value is None else float(value)


def _scores(rows: Sequence[Row], key: str) -> str:
    """A row per model with the score and the seconds of each method, then the medians."""
    rows = [row for row in rows if any(found[key] is not None for found in row["answers"].values())]
    names = [name for name in ANSWERS if any(row["answers"][name][key] is not None for row in rows)]
    cells = [
        (row["model"], *(_score(_value(row, name, key), row["answers"][name]["seconds"]) for name in names))
        for row in rows
    ]
    medians = (f"{np.median([_value(row, name, key) for row in rows]):.4f}" for name in names)
    return markdown_table(("model", *names), [*cells, ("**median**", *medians)])


def _score(value: float, seconds: float) -> str:
    return f"{value:.4f} ({seconds:.2f} s)" if np.isfinite(value) else "-"


def _is_lower(row: Row, name: str) -> bool:
    """Whether another search found a lower energy than ours."""
    ours, other = row["energies"][OURS]["energy"], row["energies"][name]["energy"]
    return other is not None and other < ours - TIE * max(1.0, abs(ours))


def _energy_cells(row: Row) -> tuple[str, ...]:
    found = [row["energies"][name] for name in ENERGIES]
    energies = ("-" if one["energy"] is None else f"{one['energy']:.4f}" for one in found)
    seconds = ("-" if one["energy"] is None else f"{one['seconds']:.2f}" for one in found)
    return row["model"], str(row["variables"]), *energies, *seconds
