"""``python -m experiments motivation``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.commands import options


def motivation(
    out: options.Out = options.OUT,
    work: options.Work = Path("experiments-motivation"),
    seeds: Annotated[int, typer.Option(min=1, help="Drawings of the four zones.")] = 20,
    quick: Annotated[bool, typer.Option("--quick", help="Three drawings.")] = False,
    page_only: options.PageOnly = False,
    workers: options.Workers = None,
    as_json: options.Json = False,
) -> None:
    """Four zones: mean field, two modes and exact inference."""
    from experiments.motivation.measure import measure, tasks
    from experiments.motivation.page import write_page
    from experiments.provenance import provenance

    wanted = tasks(min(seeds, 3) if quick else seeds)
    rows = options.measured(measure, wanted, work, "four zones", page_only=page_only, workers=workers, quiet=as_json)
    made_by = provenance(options.command_line("motivation", quick=quick), seeds=f"0 to {len(wanted) - 1}")
    options.print_paths(write_page(rows, made_by, out), as_json=as_json)
