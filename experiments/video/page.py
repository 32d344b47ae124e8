"""The page ``video.md`` and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.claims import Claim, confirmed, table
from experiments.measurements import Row
from experiments.page import PageTemplate, markdown_table, write_results
from experiments.video.evaluate import HARD, METHODS, calibration, left_out, shares, thinned
from experiments.video.frame import FIELDS

WITHOUT_ORACLE, WITH_ORACLE = 2.4, 8.3  # points over mean field that the paper reports
CLAIMED_SHARE = WITHOUT_ORACLE / WITH_ORACLE


def write_page(rows: Sequence[Row], made_by: dict[str, Any], out: Path) -> Path:
    """Write ``video.json`` and ``video.md`` into a folder; returns the path of the page."""
    videos = left_out(rows)
    results = {
        "made_by": made_by,
        "frames": sum(len(row["frames"]) for row in rows) // len(FIELDS),
        "mean_iou": {video.name: video.mean_ious() for video in videos},
        "share": {"hard": shares(videos, HARD), "all": shares(videos)},
        "thinned": thinned(videos),
        "calibration": calibration(videos),
    }
    return write_results(out, "video", results, page_text(results))


def page_text(results: dict[str, Any]) -> str:
    """The page that belongs to the numbers of ``video.json``."""
    template, made_by, mean_iou = PageTemplate.read("video"), results["made_by"], results["mean_iou"]
    rows = [[name, *_cells(scores)] for name, scores in mean_iou.items()]
    return template.fill(
        reduced=template.fill("reduced", step=made_by["step"]) if made_by["step"] > 1 else "",
        skipped=template.fill("skipped", every=made_by["every"]) if made_by["every"] > 1 else "",
        claims=table(claims(results)),
        scores=markdown_table(["field, sequence", *METHODS], rows),
        shares=markdown_table(["sequences", *FIELDS], [_shares(name, each) for name, each in results["share"].items()]),
        thinned=" and ".join(
            f"{100 * share:.0f} % ({field}), {worst:+.2f} points at worst"
            for field, (share, worst) in results["thinned"].items()
        ),
        changes=results["calibration"]["changes"],
        stated=f"{results['calibration']['stated']:.2f}",
        better=f"{results['calibration']['better']:.2f}",
        command=made_by["command"],
        frames=results["frames"],
    )


def _cells(scores: dict[str, float]) -> list[str]:
    """Mean IoU of mean field, and gains over it."""
    single = scores["mean field"]
    return [f"{single:.2f}", *(f"{scores[name] - single:+.2f}" for name in METHODS[1:])]


def _shares(name: str, by_field: dict[str, list[float]]) -> list[str]:
    return [name, *("{:.0f} % [{:.0f}, {:.0f}]".format(*(100 * x for x in by_field[field])) for field in FIELDS)]


def claims(results: dict[str, Any]) -> list[Claim]:
    """The claims of section 7.4 of the paper against the measurements."""
    mean_iou = results["mean_iou"]
    gains = {name: scores["left out"] - scores["mean field"] for name, scores in mean_iou.items()}
    mean, worst = float(np.mean(list(gains.values()))), min(gains, key=lambda name: gains[name])
    oracle = float(np.mean([scores["best mode"] - scores["mean field"] for scores in mean_iou.values()]))
    hard = [each[0] for each in results["share"]["hard"].values()]
    return [
        Claim(
            f"{WITHOUT_ORACLE:g} points over mean field without an oracle",
            f"{mean:+.2f} on average over sequences, {gains[worst]:+.2f} at worst ({worst})",
            confirmed(mean >= WITHOUT_ORACLE),
        ),
        Claim(f"{WITH_ORACLE:g} points with an oracle", f"{oracle:+.2f}", confirmed(oracle >= WITH_ORACLE)),
        Claim(
            f"{100 * CLAIMED_SHARE:.0f} % of the oracle's gain without an oracle",
            f"{100 * min(hard):.0f} % on hard sequences",
            confirmed(min(hard) >= CLAIMED_SHARE),
        ),
    ]
