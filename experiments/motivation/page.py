"""The page ``motivation.md``, its figure and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from experiments.claims import Claim, table
from experiments.maps import Map, write_maps
from experiments.measurements import Row
from experiments.motivation.claims import claims
from experiments.motivation.measure import SIZE
from experiments.page import PageTemplate, markdown_table, write_results
from experiments.provenance import version_list
from mixfield.reports.motivation import Motivation, motivation

HEADS = ("seed", "mean field's certainty", "weights", "log-odds", "exact", "KL, mean field", "KL, two modes")


def write_page(rows: Sequence[Row], made_by: dict[str, Any], out: Path) -> Path:
    """Write ``motivation.json``, ``.md``, ``.svg`` and ``.png`` into a folder; returns the path of the page."""
    results = {"made_by": made_by, "claims": [asdict(c) for c in claims(rows)], "drawings": list(rows)}
    page = write_results(out, "motivation", results, page_text(results))
    maps = _maps(motivation(SIZE, rng=rows[0]["seed"]))
    for suffix in ("svg", "png"):
        write_maps(out / f"motivation.{suffix}", maps, columns=len(maps), label="probability of label 1")
    return page


def page_text(results: dict[str, Any]) -> str:
    """The page that belongs to the numbers of ``motivation.json``."""
    made_by = results["made_by"]
    return PageTemplate.read("motivation").fill(
        command=made_by["command"],
        claims=table([Claim(**claim) for claim in results["claims"]]),
        drawings=markdown_table(HEADS, [_cells(row) for row in results["drawings"]]),
        seeds=made_by["seeds"],
        versions=version_list(made_by),
    )


def _cells(row: Row) -> tuple[str, ...]:
    first, second = row["weights"][:2]
    return (
        str(row["seed"]),
        f"{row['mean_field_certainty']:.3f}",
        f"{first:.2f} / {second:.2f}",
        f"{row['log_odds']:+.2f}",
        f"{row['exact_log_odds']:+.2f}",
        f"{row['kl_mean_field']:.2f}",
        f"{row['kl_two_modes']:.2f}",
    )


def _maps(result: Motivation) -> list[Map]:
    weights, modes = result.posterior.weights, result.posterior.modes
    evidence = np.exp(-result.graph.unary)
    prior = (evidence / evidence.sum(1, keepdims=True))[:, 1].reshape(result.graph.shape)
    return [
        Map("input", prior, "evidence of each pixel"),
        Map("mean field", result.single.marginals[..., 1], "one answer, no doubt"),
        Map("mode 1", modes[0].marginals[..., 1], f"probability {100 * weights[0]:.0f} %"),
        Map("mode 2", modes[1].marginals[..., 1], f"probability {100 * weights[1]:.0f} %"),
        Map("exact marginals", result.true_marginals[..., 1], "the truth"),
    ]
