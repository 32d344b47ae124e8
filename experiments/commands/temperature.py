"""``python -m experiments temperature``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from experiments.commands import options


def temperature(
    data: options.Data = None,
    out: options.Out = options.OUT,
    work: options.Work = Path("experiments-temperature"),
    quick: Annotated[bool, typer.Option("--quick", help="A smaller picture, fewer temperatures and graphs.")] = False,
    page_only: options.PageOnly = False,
    workers: options.Workers = None,
    as_json: options.Json = False,
) -> None:
    """Phase transitions of dense CRFs: entropy over temperature, the fixed point, where random graphs split."""
    from experiments.provenance import provenance
    from experiments.temperature.measure import collect, measure, tasks
    from experiments.temperature.page import write_page
    from experiments.temperature.photos import network_photo, synthetic_photo

    folder = options.data_folder(data) / "segmentation" / "vocval7"
    photo = (network_photo(folder) if folder.is_dir() else synthetic_photo()).reduced(64 if quick else 170)
    wanted = tasks(photo, quick=quick)
    rows = options.measured(measure, wanted, work, "temperatures", page_only=page_only, workers=workers, quiet=as_json)
    made_by = provenance(options.command_line("temperature", quick=quick), seeds=_seeds(rows))
    options.print_paths(write_page(collect(rows, photo, made_by), out), as_json=as_json)


def _seeds(rows: list[dict[str, Any]]) -> str:
    """The seeds, for the last line of the page."""
    graphs = [row for row in rows if row["what"] == "graph"]
    return f"0 for noise and starts, 0 to {len(graphs[0]['predicted']) - 1} for graphs" if graphs else "0"
