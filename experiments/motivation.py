"""Four zones (section 3 of the paper): what mean field commits to, and the two modes behind it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from experiments.claims import Claim, table, verdict
from experiments.measured import Row
from mixfield.reports.maps import Map, write_maps
from mixfield.reports.motivation import Motivation, motivation

SURE = 0.9  # probability from which mean field has committed itself


SIZE = 16


def tasks(count: int) -> dict[str, tuple[int]]:
    """Name and seed of every drawing."""
    return {f"seed {seed}": (seed,) for seed in range(count)}


def measure(seed: int, size: int = SIZE) -> Row:
    """Mean field, two modes and the truth of one drawing of the four zones."""
    story = motivation(size, rng=seed)
    half = size // 2
    quarter = np.zeros((size, size), bool)
    quarter[half:, half:] = True
    single, truth = (q[..., 1][quarter] for q in (story.single.marginals, story.true_marginals))
    mixture = story.posterior.marginals()[..., 1][quarter]
    return {
        "seed": seed,
        "mean_field_certainty": float(np.maximum(single, 1 - single).mean()),
        "mean_field_has_one_label": bool((single > 0.5).all() or (single < 0.5).all()),
        "exactly_the_quarter_flips": bool((story.flipped == quarter).all()),
        "weights": story.posterior.weights.tolist(),
        "log_odds": story.log_odds,
        "exact_log_odds": story.true_log_odds,
        "kl_mean_field": story.true_log_z - story.single.log_z,
        "kl_two_modes": story.true_log_z - story.posterior.log_z,
        "marginal_error_mean_field": float(np.abs(single - truth).mean()),
        "marginal_error_two_modes": float(np.abs(mixture - truth).mean()),
    }


def judged(rows: Sequence[Row]) -> list[Claim]:
    """The sentences of section 3 against the numbers."""
    total = len(rows)
    sure = sum(row["mean_field_certainty"] > SURE and row["mean_field_has_one_label"] for row in rows)
    flips = sum(row["exactly_the_quarter_flips"] for row in rows)
    lighter = [min(row["weights"]) for row in rows]
    exact = [1 / (1 + np.exp(abs(row["exact_log_odds"]))) for row in rows]
    miss = [abs(row["log_odds"] - row["exact_log_odds"]) for row in rows]
    certainty = np.mean([row["mean_field_certainty"] for row in rows])
    return [
        Claim(
            "mean field gives all pixels of the bottom right quarter the same label with high probability",
            f"{certainty:.3f} on average; above {SURE:g} with one label in {sure} of {total} drawings"
            + ("" if sure == total else "; in the others it is as sure, but cuts the quarter in two"),
            verdict(sure, total),
        ),
        Claim(
            "multi-modal mean field produces two modes, one with the quarter at 0, one with it at 1",
            f"exactly the quarter flips, and nothing else, in {flips} of {total}",
            verdict(flips, total),
        ),
        Claim(
            "the two modes are equally likely",
            f"the lighter has {min(lighter):.2f} to {max(lighter):.2f}, in truth {min(exact):.2f} to {max(exact):.2f}: "
            "the quarter's unaries sum to zero, but its eight weak edges to the quarter above favour label 1",
            "likely, not equally" if min(lighter) < 0.4 else "confirmed",
        ),
        Claim(
            "not in the paper: the weights are the exact odds",
            f"log-odds off by {np.mean(miss):.2f} nats on average, at most {max(miss):.2f}",
            "confirmed" if max(miss) < 0.5 else "not confirmed",
        ),
        Claim(
            "not in the paper: two modes are closer to the posterior",
            f"KL {np.mean([r['kl_mean_field'] for r in rows]):.2f} to "
            f"{np.mean([r['kl_two_modes'] for r in rows]):.2f} nats; error of the quarter's marginals "
            f"{np.mean([r['marginal_error_mean_field'] for r in rows]):.3f} to "
            f"{np.mean([r['marginal_error_two_modes'] for r in rows]):.3f}",
            verdict(sum(r["kl_two_modes"] < r["kl_mean_field"] for r in rows), total),
        ),
    ]


def write_page(rows: Sequence[Row], about: dict[str, Any], out: Path) -> Path:
    """``motivation.json``, ``.svg``, ``.png`` and ``.md`` in a folder; returns the page."""
    out.mkdir(parents=True, exist_ok=True)
    story = motivation(SIZE, rng=rows[0]["seed"])
    found = judged(rows)
    results = {"made_by": about, "claims": [asdict(c) for c in found], "drawings": list(rows)}
    (out / "motivation.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    for ending in ("svg", "png"):
        write_maps(out / f"motivation.{ending}", _maps(story), columns=5, label="probability of label 1")
    page = out / "motivation.md"
    page.write_text("\n".join(_page(rows, found, about)) + "\n", encoding="utf-8")
    return page


def _maps(story: Motivation) -> list[Map]:
    weights = story.posterior.weights
    modes = story.posterior.modes
    return [
        Map("input", story.prior, "evidence of each pixel"),
        Map("mean field", story.single.marginals[..., 1], "one answer, no doubt"),
        Map("mode 1", modes[0].marginals[..., 1], f"probability {100 * weights[0]:.0f} %"),
        Map("mode 2", modes[1].marginals[..., 1], f"probability {100 * weights[1]:.0f} %"),
        Map("exact marginals", story.true_marginals[..., 1], "the truth"),
    ]


def _page(rows: Sequence[Row], found: Sequence[Claim], about: dict[str, Any]) -> list[str]:
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    return [
        "# Four zones",
        "",
        f"`{about['command']}` made this page: section 3 of the paper, a grid of 16 x 16 binary variables. Neighbours",
        "attract, weakly on the left and strongly on the right; unaries favour label 1 in the top half and are noise",
        "in the bottom half. Mean field is annealed from T_max; the truth is exact, by junction tree.",
        "",
        *table(found),
        "",
        "![Input, mean field, both modes and the truth](motivation.svg)",
        "",
        "| seed | mean field's certainty | weights | log-odds | exact | KL, mean field | KL, two modes |",
        "|---|---|---|---|---|---|---|",
        *(
            f"| {r['seed']} | {r['mean_field_certainty']:.3f} | {r['weights'][0]:.2f} / {r['weights'][1]:.2f} | "
            f"{r['log_odds']:+.2f} | {r['exact_log_odds']:+.2f} | {r['kl_mean_field']:.2f} | {r['kl_two_modes']:.2f} |"
            for r in rows
        ),
        "",
        f"Seeds: {about['seeds']}; the figure shows the first. {versions}.",
        "All numbers: [motivation.json](motivation.json).",
    ]
