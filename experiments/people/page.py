"""The page ``people.md`` and its numbers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import bootstrap
from experiments.measurements import Row
from experiments.page import PageTemplate, markdown_table, write_results

HEADS = ("", "0.5 m", "95 %", "kept aside", "1 m", "95 %", "kept aside")
DIFFERENCES = (
    ("best of 4", "control"),
    ("best of 4", "harder control"),
    ("best of 4 with tracks", "control"),
    ("best of 4 with tracks", "harder control"),
    ("best of 4 with tracks", "KSP"),
    ("best of 4, sigma 0.01", "control, sigma 0.01"),
    ("best of 4, sigma 0.01", "harder control, sigma 0.01"),
    ("best of 4 with tracks, sigma 0.01", "control, sigma 0.01"),
    ("best of 4 with tracks, sigma 0.01", "harder control, sigma 0.01"),
    ("best of 4 with tracks, sigma 0.01", "KSP, sigma 0.01"),
    ("KSP", "mean field"),
    ("KSP", "KSP, independent frames"),
    ("mean field", "mean field, not fitted"),
    ("KSP*", "KSP"),
    ("KSP*", "KSP, heaviest mode"),
    ("KSP*, weights twice", "KSP, heaviest mode"),
    ("KSP, mixture", "KSP, heaviest mode"),
    ("KSP*", "KSP, mixture"),
    ("KSP, sigma 0.01", "KSP*"),
    ("blobs", "cells"),
    ("blobs", "detector"),
    ("boxes", "detector"),
    ("mean field, occluders learnt", "mean field"),
    ("KSP, occluders learnt", "KSP"),
    ("local form", "mean field"),
    ("local form, fitted", "local form"),
    ("mean field", "mean field of the first view"),
    ("mean field, fitted", "mean field of the first view"),
    ("KSP, fitted", "KSP of the first view"),
    ("mean field, synchronised", "mean field of the first view"),
    ("KSP, synchronised", "KSP of the first view"),
    ("mean field, three heights", "mean field"),
    ("mean field, three heights", "mean field, best single height"),
    ("mean field, three heights around the best", "mean field, best single height"),
    ("mean field, best single height", "mean field"),
    ("KSP, three heights", "KSP"),
    ("KSP, three heights", "KSP, best single height"),
)
BLOCK = 10  # frames of a block of the bootstrap


def write_page(rows: Iterable[Row], made_by: dict[str, Any], out: Path) -> Path:
    """Write ``people.json`` and ``.md`` into a folder; returns the path of the page."""
    results = {"made_by": made_by, "rows": list(rows)}
    return write_results(out, "people", results, page_text(results), indent=None)


def page_text(results: dict[str, Any]) -> str:
    """The page that belongs to the numbers of ``people.json``."""
    template = PageTemplate.read("people")
    sections = [_section(template, row) for row in results["rows"]]
    return template.fill(rows="\n\n".join(sections), command=results["made_by"]["command"])


def _section(template: PageTemplate, row: Row) -> str:
    methods = row["methods"]
    pairs = [pair for pair in DIFFERENCES if set(pair) <= set(methods)]
    listed = [f"- *{a}* - *{b}*: {_difference(methods[a], methods[b])}" for a, b in pairs]
    counts = {name: scores["1"]["misses_behind"] for name, scores in methods.items() if "misses_behind" in scores["1"]}
    listed += [f"- misses behind the sign, kept aside: *{name}* {count}" for name, count in counts.items()]
    far = {name: scores["1"]["displaced"] for name, scores in methods.items() if "displaced" in scores["1"]}
    listed += [f"- found 1 to 2 m away, all frames: *{name}* {count}" for name, count in far.items()]
    table = markdown_table(HEADS, [_cells(name, scores) for name, scores in methods.items()])
    return template.fill("row", title=row["name"], table=table, differences="\n".join(listed))


def _cells(name: str, scores: Row) -> list[str]:
    cells = [name]
    for score in scores.values():
        low, high = score["interval"]
        cells += [f"{score['moda']:.3f}", f"{low:.3f} to {high:.3f}", f"{score['kept']:.3f}"]
    return cells


def _difference(first: Row, second: Row) -> str:
    return ", ".join(f"{_paired(first[r], second[r])} at {r} m" for r in first)


def _gain(blocks: NDArray[np.float64]) -> float:
    worse, better, truths = blocks.sum(0)
    return float((worse - better) / truths)


def _paired(first: Row, second: Row) -> str:
    """Difference of MODA with its 95 % interval: blocks of frames are drawn for both methods together."""
    counts = np.array([second["errors"], first["errors"], first["truths"]], np.float64)
    blocks = np.array([counts[:, s : s + BLOCK].sum(1) for s in range(0, counts.shape[1], BLOCK)])
    gain = (counts[0] - counts[1]).sum() / counts[2].sum()
    low, high = bootstrap.interval(blocks, _gain)
    return f"{gain:+.3f} ({low:+.3f} to {high:+.3f})"
