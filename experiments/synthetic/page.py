"""The page ``synthetic.md``, its figure and its numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from experiments.claims import Claim, table
from experiments.measurements import Row
from experiments.page import PageTemplate, markdown_table, write_results
from experiments.provenance import provenance, version_list
from experiments.synthetic.claims import ENOUGH, FEW, claims
from experiments.synthetic.figure import family_of, write_figure
from experiments.synthetic.measure import with_collapsed
from experiments.synthetic.methods import BASELINE, COLLAPSED, DEFAULT, MATCHED, SAME_SEARCH
from experiments.synthetic.restarts import BATCH
from experiments.synthetic.summary import GAIN, TRUE_KL, restarts_of, summarise

Entry = dict[str, Any]  # of results["families"]

COLUMNS = (
    ("BASELINE-MAXW", BASELINE),
    ("same, annealed", SAME_SEARCH),
    ("RANDOM L=1", "OURS-RANDOM, L = 1"),
    ("RANDOM L=3", "OURS-RANDOM, L = 3"),
    ("MAXW L=1", "OURS-MAXW, L = 1"),
    ("MAXW L=3", "OURS-MAXW, L = 3"),
    ("restarts, its time", restarts_of("OURS-MAXW, L = 3")),
    ("restarts, its sweeps", restarts_of("OURS-MAXW, L = 3", "equal_sweeps")),
    ("collapsed", COLLAPSED),
    ("`collapse=False`", DEFAULT),
    ("restarts, its time", restarts_of(DEFAULT)),
    ("restarts, its sweeps", restarts_of(DEFAULT, "equal_sweeps")),
)
LOSSES = (
    "family",
    "instance",
    "restarts win against",
    "modes",
    "by (nats)",
    "above its root by",
    "`mf.infer` above them",
)


def write_page(rows: Sequence[Row], made_by: dict[str, Any], out: Path) -> Path:
    """Write ``synthetic.json``, ``.md``, ``.svg`` and ``.png`` into a folder; returns the path of the page."""
    families = summarise(rows)
    results: dict[str, Any] = {
        "made_by": made_by,
        "claims": [asdict(c) for c in claims(families)],
        "families": [family.as_json() for family in families],
        "instances": list(rows),
    }
    page = write_results(out, "synthetic", _rounded(results), page_text(results), indent=None)
    write_figure(results["families"], out)
    return page


def add_collapsed_curves(out: Path, instances: int) -> Path:
    """Measure collapsed mean fields on the first fields of each family of the page in a folder, and write it anew."""
    results = json.loads((out / "synthetic.json").read_text(encoding="utf-8"))
    rows = [
        with_collapsed(row) if row["instance"] < instances and COLLAPSED not in row["curves"] else row
        for row in results["instances"]
    ]
    made_by = results["made_by"] | {"collapsed_by": provenance("")["versions"]["mixfield"]}
    return write_page(rows, made_by, out)


def _rounded(value: Any) -> Any:
    """Floats with four digits, None for NaN, in nested lists and dictionaries."""
    if isinstance(value, float):
        return round(value, 4) if value == value else None
    if isinstance(value, dict):
        return {key: _rounded(v) for key, v in value.items()}
    return [_rounded(v) for v in value] if isinstance(value, list | tuple) else value


def page_text(results: dict[str, Any]) -> str:
    """The page that belongs to the numbers of ``synthetic.json``."""
    made_by, entries = results["made_by"], results["families"]
    template = PageTemplate.read("synthetic")
    return template.fill(
        command=made_by["command"],
        coverage=_coverage(template, entries, made_by["instances"]),
        claims=table([Claim(**claim) for claim in results["claims"]]),
        batch=BATCH,
        collapsed=_collapsed(template, entries, made_by),
        tables="\n\n".join(_tables(template, entries)),
        losses=_losses(template, entries),
        seeds=made_by["seeds"],
        versions=version_list(made_by),
    )


def _coverage(template: PageTemplate, entries: Sequence[Entry], wanted: int) -> str:
    """Whether all instances are measured."""
    done = sorted({len(entry["instances"]) for entry in entries})
    if done[0] == wanted:
        return template.fill("complete", wanted=wanted)
    span = f"{done[0]}" if len(done) == 1 else f"{done[0]} to {done[-1]}"
    return template.fill("incomplete", done=span, wanted=wanted, enough=ENOUGH)


def _collapsed(template: PageTemplate, entries: Sequence[Entry], made_by: dict[str, Any]) -> str:
    """On how many instances collapsed mean fields are measured, if not on all."""
    done = min(entry["n_collapsed"] for entry in entries)
    if done == min(len(entry["instances"]) for entry in entries):
        return ""
    return template.fill("some_collapsed", done=done, version=made_by["collapsed_by"])


def _tables(template: PageTemplate, entries: Sequence[Entry]) -> list[str]:
    """A section for each size with few and with all modes."""
    sections = []
    for side in sorted({entry["size"] for entry in entries}, reverse=True):
        chosen = [entry for entry in entries if entry["size"] == side]
        modes = chosen[0]["modes"]
        for index in sorted({modes.index(min(FEW, modes[-1])), len(modes) - 1}):
            exact, others = (
                _table([entry for entry in chosen if entry["measure"] == measure], index, title)
                for measure, title in ((TRUE_KL, f"{TRUE_KL}, lower is better"), (GAIN, f"{GAIN}, higher is better"))
            )
            sections.append(template.fill("size", side=side, modes=modes[index], exact=exact, others=others))
    return sections


def _table(entries: Sequence[Entry], index: int, title: str) -> str:
    if not entries:
        return ""
    rows = []
    for entry in entries:
        family = family_of(entry)
        curves = [entry["mean_field"], *(entry["curves"][key] for _, key in COLUMNS)]
        name = f"{family.sign} {family.topology}, {family.preset}"
        rows.append([name, len(entry["instances"]), *(_cell(curve, index) for curve in curves)])
    return markdown_table([title, "instances", "mean field", *(head for head, _ in COLUMNS)], rows)


def _cell(curve: dict[str, list[float]], index: int) -> str:
    """Mean and standard error; the mean alone for a single instance, whose error is NaN, None in JSON."""
    mean, error = curve["mean"][index], curve["standard_error"][index]
    return f"{mean:.2f}" if error is None or np.isnan(error) else f"{mean:.2f} ± {error:.2f}"


def _losses(template: PageTemplate, entries: Sequence[Entry]) -> str:
    """The instances in which restarts win."""
    rows = [
        (
            entry["name"],
            loss["instance"],
            method,
            loss["modes"],
            f"{loss['by']:.2f}",
            f"{loss['above_root']:.2f}",
            f"{loss['default_above']:+.2f}",
        )
        for entry in entries
        for method in MATCHED
        for loss in entry["restarts_win"][method]
    ]
    return template.fill("losses", table=markdown_table(LOSSES, rows)) if rows else template.fill("no_losses")
