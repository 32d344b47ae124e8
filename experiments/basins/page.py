"""The page ``basins.md`` and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments import bootstrap
from experiments.basins.counting import DISTANCES
from experiments.basins.measure import SEEDS
from experiments.basins.models import FAMILIES, SIZES
from experiments.basins.samplers import OURS, PEERS
from experiments.basins.weights import COLD, METHODS
from experiments.measurements import Row
from experiments.page import PageTemplate, markdown_table, write_results
from experiments.provenance import version_list

HEADS = ("family", "variables", "models", "seconds", OURS, *PEERS, "least ratio", "lowest energy: ours; best of theirs")


def write_page(rows: Sequence[Row], made_by: dict[str, Any], out: Path) -> Path:
    """Write ``basins.json`` and ``.md`` into a folder; returns the path of the page."""
    results = {"made_by": made_by, "models": list(rows)}
    return write_results(out, "basins", results, page_text(results))


def page_text(results: dict[str, Any]) -> str:
    """The page that belongs to the numbers of ``basins.json``."""
    made_by, rows = results["made_by"], results["models"]
    compared, enumerated = ([row for row in rows if key in row] for key in ("samplers", "errors"))
    template = PageTemplate.read("basins")
    sections = [
        template.fill(
            "distance",
            share=f"{100 * share:g}",
            table=_table(compared, str(share)),
            ratio=_ratio(compared, share),
        )
        for share in DISTANCES
    ]
    return template.fill(
        command=made_by["command"],
        seconds=f"{made_by['seconds']:g}",
        seeds=f"{SEEDS[0]} to {SEEDS[-1]}",
        families="\n".join(f"- **{name}**: {words}." for name, words in FAMILIES.items()),
        sections="\n\n".join(sections),
        cold=f"{COLD:g}",
        weights=markdown_table(("family", "variables", *METHODS), _weight_rows(enumerated)),
        versions=version_list({"versions": {**made_by["versions"], **made_by["peers"]}}),
    )


def _best(row: Row, method: str, share: str) -> int:
    """The basins of the best setting of a method."""
    return max(entry["basins"][share] for entry in row["samplers"] if entry["method"] == method)


def _ratios(rows: Sequence[Row], share: str) -> list[float]:
    """Our basins divided by those of the best of the others, of each model."""
    return [_best(row, OURS, share) / max(1, *(_best(row, peer, share) for peer in PEERS)) for row in rows]


def _ratio(rows: Sequence[Row], share: float) -> str:
    """Median ratio with its interval, and how often it is at least one."""
    ratios = _ratios(rows, str(share))
    low, high = bootstrap.interval(ratios, np.median)
    wins = sum(ratio >= 1 for ratio in ratios)
    return (
        f"On {wins} of {len(ratios)} models at least as many as the best setting of the best other sampler; "
        f"median ratio {np.median(ratios):.2f} [{low:.2f}, {high:.2f}]."
    )


def _table(rows: Sequence[Row], share: str) -> str:
    groups = [
        [row for row in rows if (row["family"], row["size"]) == (family, size)]
        for family, sizes in SIZES.items()
        for size in sizes[1:]
    ]
    return markdown_table(HEADS, [_cells(group, share) for group in groups if group])


def _cells(rows: Sequence[Row], share: str) -> tuple[str, ...]:
    counts = [f"{np.median([_best(row, method, share) for row in rows]):.0f}" for method in (OURS, *PEERS)]
    seconds = np.median([row["samplers"][0]["seconds"] for row in rows])
    below = np.mean([_lowest(row, True) for row in rows]), np.mean([_lowest(row, False) for row in rows])
    head = (rows[0]["family"], str(rows[0]["variables"]), str(len(rows)), f"{seconds:.2f}")
    return *head, *counts, f"{min(_ratios(rows, share)):.2f}", f"{below[0]:.1f}; {below[1]:.1f}"


def _lowest(row: Row, ours: bool) -> float:
    return min(float(entry["lowest"]) for entry in row["samplers"] if (entry["method"] == OURS) is ours)


def _weight_rows(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    found = []
    for family, sizes in SIZES.items():
        mine = [row for row in rows if (row["family"], row["size"]) == (family, sizes[0])]
        if mine:
            errors = (f"{np.mean([row['errors'][method] for row in mine]):.3f}" for method in METHODS)
            found.append((family, str(mine[0]["variables"]), *errors))
    return found
