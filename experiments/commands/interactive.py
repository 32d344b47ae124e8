"""``python -m experiments interactive``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.commands import options


def interactive(
    data: options.Data = None,
    out: options.Out = options.OUT,
    work: options.Work = Path("experiments-interactive"),
    method: Annotated[list[str] | None, typer.Option(help="Measure this method; may be repeated.")] = None,
    page_only: options.PageOnly = False,
    as_json: options.Json = False,
) -> None:
    """Strokes and clicks: answers to human strokes, and the clicks that a simulated annotator needs."""
    from experiments.interactive.measure import CARELESS, measure, tasks
    from experiments.interactive.methods import METHODS
    from experiments.interactive.page import write_page
    from experiments.provenance import provenance
    from mixfield.errors import MixfieldError

    if unknown := set(method or ()) - set(METHODS):
        raise MixfieldError(f"--method must be one of {', '.join(METHODS)}, got {', '.join(sorted(unknown))}")
    wanted = tasks(options.data_folder(data), tuple(method or METHODS), ("perfect", CARELESS))
    rows = options.measured(  # in one process, since times are compared
        measure, wanted, work, "photographs", page_only=page_only, workers=1, quiet=as_json
    )
    made_by = provenance(options.command_line("interactive"), seeds="0")
    options.print_paths(write_page(rows, made_by, out), as_json=as_json)
