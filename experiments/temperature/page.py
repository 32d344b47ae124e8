"""The page ``temperature.md``, its figures and its numbers."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from experiments.claims import Claim, table
from experiments.measurements import Row
from experiments.page import PageTemplate, markdown_table, write_results
from experiments.provenance import version_list
from experiments.temperature.claims import claims
from experiments.temperature.figures import write_figures
from experiments.temperature.models import GAMMA, HIGH_ENTROPY, NOISE, SRGB, SXY

UNARY_HEADS = ("U", "mode against the unary vanishes: measured", "with U/2", "with U, as printed")
GRAPH_HEADS = ("graphs", "T_max", "splits without fields", "ratio", "splits with its fields", "ratio")


def write_page(results: dict[str, Any], out: Path) -> Path:
    """Write ``temperature.json``, ``.md`` and three figures into a folder; returns the path of the page."""
    numbers = {
        **results,
        "claims": [asdict(claim) for claim in claims(results)],
        "models": {name: _without_maps(model) for name, model in results["models"].items()},
    }
    page = write_results(out, "temperature", numbers, page_text(numbers))
    write_figures(results["models"], out)
    return page


def _without_maps(model: Row) -> Row:
    return {key: value for key, value in model.items() if key != "maps"}


def page_text(results: dict[str, Any]) -> str:
    """The page that belongs to the numbers of ``temperature.json``."""
    made_by, (height, width) = results["made_by"], results["shape"]
    return PageTemplate.read("temperature").fill(
        command=made_by["command"],
        gamma=f"{GAMMA:g}",
        photo=results["photo"],
        width=width,
        height=height,
        claims=table([Claim(**claim) for claim in results["claims"]]),
        sxy=f"{SXY:g}",
        srgb=f"{SRGB:g}",
        noise=f"{NOISE:g}",
        bits=f"{HIGH_ENTROPY:g}",
        unaries=markdown_table(UNARY_HEADS, [_unary_cells(row) for row in results["with_unaries"]]),
        starts=results["starts"],
        fields=len(results["graphs"][0]["split"]),
        graphs=markdown_table(GRAPH_HEADS, [_graph_cells(graph) for graph in results["graphs"]]),
        seeds=made_by["seeds"],
        versions=version_list(made_by),
    )


def _unary_cells(row: Row) -> list[str]:
    numbers = (row[key] for key in ("measured", "predicted", "predicted_as_printed"))
    return [f"{row['unary']:g}", *(f"{number:.3f}" for number in numbers)]


def _graph_cells(graph: Row) -> list[str]:
    predicted, without, split = (np.array(graph[key]) for key in ("predicted", "split_without_fields", "split"))
    means = (predicted, without, without / predicted, split, split / predicted)
    return [graph["family"], *(f"{values.mean():.3f}" for values in means)]
