"""``python -m experiments uai``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.commands import options


def uai(
    data: options.Data = None,
    out: options.Out = options.OUT,
    work: options.Work = Path("experiments-uai"),
    seconds: Annotated[
        list[float] | None, typer.Option(help="Limit of time a model; may be repeated.  [default: 20 and 60]")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Measure models whose names contain this; may be repeated.  [default: all]")
    ] = None,
    note: Annotated[str, typer.Option(help="A sentence on how the machine was used, for the page.")] = "",
    page_only: options.PageOnly = False,
    as_json: options.Json = False,
) -> None:
    """UAI-2014 models: PR and MAR scores against belief propagation and sampling, energies against toulbar2."""
    from experiments.measurements import Row, load_measurements
    from experiments.provenance import provenance
    from experiments.uai.energies import peer_versions
    from experiments.uai.measure import measure, tasks, unfinished
    from experiments.uai.page import page_text, write_page
    from mixfield.errors import MixfieldError

    folder, limits = options.data_folder(data), seconds or [20.0, 60.0]
    if not tasks(folder, limits, only or ()):
        raise MixfieldError(f"--only must be part of the name of a model in {folder / 'uai' / 'uai2014'}, got {only}")
    made_by = provenance(options.command_line("uai"), peers=peer_versions(), note=note)
    rows: list[Row] = []
    for limit in sorted(limits):
        if not page_only:  # in one process, since times are compared
            missing = unfinished(tasks(folder, [limit], only or ()), rows)
            options.measure_missing(measure, missing, work, f"models, {limit:g} s", workers=1, quiet=as_json)
        rows += load_measurements(tasks(folder, [limit]), work).values()
    page = write_page(rows, made_by, out)
    if not as_json:
        typer.echo(page_text({"made_by": made_by, "models": rows}))
    options.print_paths(page, as_json=as_json)
