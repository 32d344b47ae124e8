"""``python -m experiments people``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.commands import options


def people(
    data: options.Data = None,
    out: options.Out = options.OUT,
    work: options.Work = Path("experiments-people"),
    row: Annotated[list[str] | None, typer.Option(help="Measure this row; may be repeated.  [default: all]")] = None,
    page_only: options.PageOnly = False,
    workers: options.Workers = None,
    as_json: options.Json = False,
) -> None:
    """People with many cameras, few cameras and a neural detector: MODA on PETS 2009 and WILDTRACK."""
    from experiments.measurements import load_measurements
    from experiments.people.measure import ROWS, measure
    from experiments.people.page import write_page
    from experiments.provenance import provenance
    from mixfield.errors import MixfieldError

    if unknown := set(row or ()) - set(ROWS):
        raise MixfieldError(f"--row must be one of {'; '.join(ROWS)}, got {', '.join(sorted(unknown))}")
    folder = options.data_folder(data)
    if not page_only:
        wanted = {name: (name, folder) for name in row or ROWS}
        options.measure_missing(measure, wanted, work, "rows", workers=workers, quiet=as_json)
    made_by = provenance(options.command_line("people"), seeds="the number of the frame")
    rows = list(load_measurements(ROWS, work).values())
    options.print_paths(write_page(rows, made_by, out), as_json=as_json)
