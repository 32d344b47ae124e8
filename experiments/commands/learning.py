"""``python -m experiments learning``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.commands import options


def learning(
    out: options.Out = options.OUT,
    work: options.Work = Path("experiments-learning"),
    data: options.Data = None,
    images: Annotated[int, typer.Option(min=5, help="Photographs.")] = 25,
    seeds: Annotated[int, typer.Option(min=1, help="Drawings of the planted and the annotated images.")] = 5,
    quick: Annotated[bool, typer.Option("--quick", help="One drawing, five photographs.")] = False,
    page_only: options.PageOnly = False,
    workers: options.Workers = None,
    as_json: options.Json = False,
) -> None:
    """Learning through the layers of PyTorch: planted parameters, annotators who disagree, photographs."""
    from experiments.learning.measure import by_part, measure, tasks
    from experiments.learning.page import write_page
    from experiments.provenance import provenance

    drawings, photographs = (1, 5) if quick else (seeds, images)
    wanted = tasks(drawings, photographs, options.data_folder(data))
    rows = options.measured(measure, wanted, work, "learning", page_only=page_only, workers=workers, quiet=as_json)
    made_by = provenance(options.command_line("learning", quick=quick), seeds=f"0 to {drawings - 1}")
    options.print_paths(write_page(by_part(rows), made_by, out), as_json=as_json)
