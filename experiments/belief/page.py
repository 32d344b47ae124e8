"""The page on belief: one table per network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.belief.diverse import gains
from experiments.belief.table import above_diverse, interval, table
from experiments.measurements import Row
from experiments.page import PageTemplate, markdown_table, write_results
from experiments.provenance import version_list

TITLES = {"dl513": "Strong network", "dl257": "Weak network"}
HEADS = ("", "deeplab kernels, paper's weights and order", "default model", "fitted to this network")


def write_page(results: dict[str, Any], out: Path) -> Path:
    """Write ``belief.md`` and ``belief.json``.

    Parameters
    ----------
    results : ``made_by``, ``rows`` of the default model, rows of each network's ``own`` model, and ``diverse`` rows.
    out : folder.
    """
    return write_results(out, "belief", results, page_text(results), indent=None)


def page_text(results: dict[str, Any]) -> str:
    """The Markdown of the page."""
    made_by = results["made_by"]
    template = PageTemplate.read("belief")
    return template.fill(
        sizes="\n\n".join(_of_size(template, results, step) for step in made_by["steps"]),
        command=made_by["command"],
        versions=version_list(made_by),
    )


def _of_size(template: PageTemplate, results: dict[str, Any], step: int) -> str:
    """The part of the page on one size of the images."""
    rows, own, diverse = (
        [row for row in results[which] if row["step"] == step] for which in ("rows", "own", "diverse")
    )
    return template.fill(
        "size",
        size="Full size" if step == 1 else f"1/{step} of the size",
        losses=_losses(rows, own),
        diverse=_diverse(diverse),
        tables="\n\n".join(
            _section(network, *(_of(some, network) for some in (rows, own, diverse))) for network in TITLES
        ),
    )


def _losses(rows: Sequence[Row], own: Sequence[Row]) -> str:
    """Mean losses of pixels, the network's own probabilities first."""
    body = [[name, *(_mean_loss(_of(rows, network), name) for network in TITLES)] for name in rows[0]["losses"]]
    body[-1][0] = HEADS[2]
    if own:
        body.append([HEADS[3], *(_mean_loss(_of(own, network), "model") for network in TITLES)])
    return markdown_table(("", *(title.lower() for title in TITLES.values())), body)


def _mean_loss(rows: Sequence[Row], name: str) -> str:
    return f"{np.mean([row['losses'][name] for row in rows]):.3f}"


def _diverse(rows: Sequence[Row]) -> str:
    """The gain of the best of eight of DivMBest by strength."""
    parts = [gains(_of(rows, network)) for network in TITLES]
    strengths = sorted({strength for part in parts for strength in part}, key=float)
    body = [
        [
            strength,
            *(f"{interval(part[strength])} ({len(part[strength])})" if strength in part else "-" for part in parts),
        ]
        for strength in strengths
    ]
    return markdown_table(("strength", *(f"{title.lower()} (images)" for title in TITLES.values())), body)


def _section(network: str, rows: Sequence[Row], own: Sequence[Row], diverse: Sequence[Row]) -> str:
    """The table of a network, with a column for its own model if that was measured."""
    parts = [[*table(some), *above_diverse(some, diverse)] for some in (rows, own) if some]
    body = [(*cells[0], *(alone[-1] for alone in cells[1:])) for cells in zip(*parts, strict=True)]
    return f"### {TITLES[network]} ({len(rows)} images)\n\n{markdown_table(HEADS[: len(parts) + 2], body)}"


def _of(rows: Sequence[Row], network: str) -> list[Row]:
    return [row for row in rows if row["network"] == network]
