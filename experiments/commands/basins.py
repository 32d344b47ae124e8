"""``python -m experiments basins``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.commands import options


def basins(
    out: options.Out = options.OUT,
    work: options.Work = Path("experiments-basins"),
    seconds: Annotated[float, typer.Option(min=0.01, help="Of our sampler, a model.")] = 1.0,
    page_only: options.PageOnly = False,
    as_json: options.Json = False,
) -> None:
    """Basins of low energy of QUBO and Ising models, against dwave-samplers and openjij at equal time."""
    from experiments.basins.measure import measure, tasks
    from experiments.basins.page import page_text, write_page
    from experiments.basins.samplers import peer_versions
    from experiments.measurements import load_measurements
    from experiments.provenance import provenance

    made_by = provenance(
        f"{options.command_line('basins')} --seconds {seconds:g}", peers=peer_versions(), seconds=seconds
    )
    every = tasks(seconds)
    if not page_only:  # in one process, since times are compared
        settings = {"seconds": seconds}
        options.measure_missing(measure, every, work, "models", workers=1, quiet=as_json, settings=settings)
    rows = list(load_measurements(every, work).values())
    page = write_page(rows, made_by, out)
    if not as_json:
        typer.echo(page_text({"made_by": made_by, "models": rows}))
    options.print_paths(page, as_json=as_json)
