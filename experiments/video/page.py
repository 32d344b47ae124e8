"""The page ``video.md`` and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.claims import Claim, confirmed, table
from experiments.measurements import Row
from experiments.page import PageTemplate, markdown_table, write_results
from experiments.video.evaluate import evaluate

WITHOUT_ORACLE, WITH_ORACLE = 2.4, 8.3  # points over mean field that the paper reports


def write_page(rows: Sequence[Row], made_by: dict[str, Any], out: Path) -> Path:
    """Write ``video.json`` and ``video.md`` into a folder; returns the path of the page."""
    results = {"made_by": made_by, "mean_iou": evaluate(rows)}
    return write_results(out, "video", results, page_text(results, len(rows)))


def page_text(results: dict[str, Any], n_frames: int) -> str:
    """The page that belongs to the numbers of ``video.json``."""
    template, made_by, mean_iou = PageTemplate.read("video"), results["made_by"], results["mean_iou"]
    methods = list(next(iter(mean_iou.values())))
    rows = [[name, *(f"{scores[method]:.2f}" for method in methods)] for name, scores in mean_iou.items()]
    return template.fill(
        reduced=template.fill("reduced", step=made_by["step"]) if made_by["step"] > 1 else "",
        skipped=template.fill("skipped", every=made_by["every"]) if made_by["every"] > 1 else "",
        claims=table(claims(mean_iou)),
        scores=markdown_table(["sequence", *methods], rows),
        command=made_by["command"],
        frames=n_frames,
    )


def claims(mean_iou: dict[str, dict[str, float]]) -> list[Claim]:
    """The claims of section 7.4 of the paper against the measurements."""
    # the other rows are those of all sequences of a kind
    sequences = {name: scores for name, scores in mean_iou.items() if " " in name}
    gains = {name: scores["modes + temporal"] - scores["mean field"] for name, scores in sequences.items()}
    mean, worst = float(np.mean(list(gains.values()))), min(gains, key=lambda name: gains[name])
    oracle = float(np.mean([scores["best mode"] - scores["mean field"] for scores in sequences.values()]))
    return [
        Claim(
            f"{WITHOUT_ORACLE:g} points over mean field without an oracle",
            f"{mean:+.2f} on average over sequences, {gains[worst]:+.2f} at worst ({worst})",
            confirmed(mean >= WITHOUT_ORACLE),
        ),
        Claim(f"{WITH_ORACLE:g} points with an oracle", f"{oracle:+.2f}", confirmed(oracle >= WITH_ORACLE)),
    ]
