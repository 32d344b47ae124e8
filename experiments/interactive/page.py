"""The page ``interactive.md``, its numbers and its figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.interactive.measure import CARELESS, MOST_CLICKS
from experiments.interactive.methods import OURS
from experiments.interactive.offers import (
    BELIEF_HEADS,
    CEILING_HEADS,
    KEPT_HEADS,
    OBJECT_HEADS,
    OBJECT_RATIO_HEADS,
    PERSON_HEADS,
    action_shares,
    belief_row,
    by_network,
    ceiling_rows,
    kept_rows,
    left_out_score,
    object_ratio_rows,
    object_rows,
    person_rows,
)
from experiments.interactive.person import CONTROL
from experiments.interactive.summary import (
    CLICK_HEADS,
    RATIO_HEADS,
    STROKE_HEADS,
    click_rows,
    ratio_rows,
    stroke_rows,
)
from experiments.measurements import Row
from experiments.page import PageTemplate, markdown_table, write_results
from experiments.provenance import version_list

Results = dict[str, Any]


def write_page(rows: dict[str, list[Row]], made_by: Row, out: Path) -> Path:
    """Write ``interactive.json`` and ``.md`` into a folder; returns the path of the page."""
    results = {"made_by": made_by, **rows}
    return write_results(out, "interactive", results, page_text(results), indent=None)


def page_text(results: Results) -> str:
    """The page of the numbers ``methods``, ``persons``, ``objects``, ``kept`` and ``ceilings``."""
    methods, persons, objects, kept = (results[kind] for kind in ("methods", "persons", "objects", "kept"))
    return PageTemplate.read("interactive").fill(
        command=results["made_by"]["command"],
        photos=len({row["photo"] for row in methods}),
        clicks=MOST_CLICKS,
        strokes=markdown_table(STROKE_HEADS, stroke_rows(methods)),
        perfect=markdown_table(CLICK_HEADS, click_rows(methods, "perfect")),
        careless=markdown_table(CLICK_HEADS, click_rows(methods, CARELESS)),
        ratios=markdown_table(RATIO_HEADS, ratio_rows(methods)),
        perfect_person=markdown_table(PERSON_HEADS, person_rows(persons, "perfect")),
        careless_person=markdown_table(PERSON_HEADS, person_rows(persons, CARELESS)),
        actions=action_shares(persons),
        n_objects=len({row["photo"] for row in objects}),
        objects=markdown_table(OBJECT_HEADS, object_rows(objects)),
        control=CONTROL,
        n_kept=len({row["photo"] for row in kept}),
        kept=markdown_table(KEPT_HEADS, kept_rows(kept)),
        object_ratios=markdown_table(OBJECT_RATIO_HEADS, object_ratio_rows(objects)),
        ceilings=markdown_table(CEILING_HEADS, ceiling_rows(results["ceilings"])),
        object_actions=action_shares(objects),
        belief=markdown_table(BELIEF_HEADS, _belief(results)),
        **_left_out(methods),
        versions=version_list(results["made_by"]),
    )


def _left_out(methods: list[Row]) -> dict[str, str]:
    """The log-score of human strokes with exponents chosen on other photographs."""
    ours = [row for row in methods if row["method"] == OURS and row["strokes"]]
    score, chosen = left_out_score({row["photo"]: list(row["strokes"].values()) for row in ours})
    return {"left_out": f"{score:+.2f}", "exponents": f"{min(chosen)} to {max(chosen)}"}


def _belief(results: Results) -> list[tuple[str, ...]]:
    """Human strokes, then clicks."""
    strokes = [one for row in results["methods"] if row["method"] == OURS for one in row["strokes"].values()]
    parts = {"clicks, photographs": results["persons"], "clicks, objects with scores": results["objects"]}
    for title, kind in (("... with", "objects"), ("... that nothing was chosen on, with", "kept")):
        parts |= {f"{title} {network}": part for network, part in by_network(results[kind]).items()}
    clicks = [belief_row(title, [state for row in rows for state in row["states"]]) for title, rows in parts.items()]
    return [belief_row("human strokes", strokes), *clicks]
