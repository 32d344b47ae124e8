"""``python -m experiments collapsed``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.commands import options


def collapsed(
    data: options.Data = None,
    out: options.Out = options.OUT,
    work: options.Work = Path("experiments-collapsed"),
    only: Annotated[
        list[str] | None, typer.Option(help="Measure fields whose names contain this; may be repeated.  [default: all]")
    ] = None,
    page_only: options.PageOnly = False,
    as_json: options.Json = False,
) -> None:
    """Bounds of log Z on random grids and UAI-2014 models, against restarts, damped BP and single good states."""
    from experiments.collapsed.measure import measure, tasks
    from experiments.collapsed.page import page_text, write_page
    from experiments.measurements import load_measurements
    from experiments.provenance import provenance
    from mixfield.errors import MixfieldError

    every = tasks(options.data_folder(data))
    wanted = {name: task for name, task in every.items() if not only or any(part in name for part in only)}
    if not wanted:
        raise MixfieldError(f"--only must be part of a name such as {next(iter(every))!r}, got {only}")
    if not page_only:  # in one process, since times are compared
        options.measure_missing(measure, wanted, work, "fields", workers=1, quiet=as_json)
    rows = list(load_measurements(every, work).values())
    made_by = provenance(options.command_line("collapsed"))
    page = write_page(rows, made_by, out)
    if not as_json:
        typer.echo(page_text({"made_by": made_by, "fields": rows}))
    options.print_paths(page, as_json=as_json)
