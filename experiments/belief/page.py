"""The page on belief: one table per network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.belief.table import table
from experiments.measurements import Row
from experiments.page import PageTemplate, markdown_table, write_results
from experiments.provenance import version_list

TITLES = {"dl513": "Strong network", "dl257": "Weak network"}
HEADS = ("", "deeplab kernels, paper's weights and order", "default model")


def write_page(rows: Sequence[Row], made_by: dict[str, Any], out: Path) -> Path:
    """Write ``belief.md`` and ``belief.json``."""
    results = {"made_by": made_by, "rows": list(rows)}
    return write_results(out, "belief", results, page_text(results), indent=None)


def page_text(results: dict[str, Any]) -> str:
    """The Markdown of the page."""
    made_by = results["made_by"]
    return PageTemplate.read("belief").fill(
        losses=_losses(results["rows"]),
        tables="\n\n".join(_section(results["rows"], network) for network in TITLES),
        size="full size" if made_by["step"] == 1 else f"1/{made_by['step']} of the size",
        command=made_by["command"],
        versions=version_list(made_by),
    )


def _losses(rows: Sequence[Row]) -> str:
    """Mean losses of pixels, the network's own probabilities first."""
    parts = [[row["losses"] for row in rows if row["network"] == network] for network in TITLES]
    names = list(rows[0]["losses"])
    body = [[name, *(f"{np.mean([one[name] for one in part]):.3f}" for part in parts)] for name in names]
    return markdown_table(("", *(title.lower() for title in TITLES.values())), body)


def _section(rows: Sequence[Row], network: str) -> str:
    part = [row for row in rows if row["network"] == network]
    return f"## {TITLES[network]} ({len(part)} images)\n\n{markdown_table(HEADS, table(part))}"
