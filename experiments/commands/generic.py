"""``python -m experiments generic``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.commands import options


def generic(
    data: options.Data = None,
    out: options.Out = options.OUT,
    work: options.Work = Path("experiments-generic"),
    model: Annotated[
        list[str] | None, typer.Option(help="Measure this model; may be repeated.  [default: all]")
    ] = None,
    page_only: options.PageOnly = False,
    as_json: options.Json = False,
) -> None:
    """Generic models: accuracy against time on UAI-2014 models, against pygms, pyAgrum, restarts and a sampler."""
    from experiments.generic.measure import measure, tasks
    from experiments.generic.page import write_page
    from experiments.generic.peers import peer_versions
    from experiments.measurements import load_measurements
    from experiments.provenance import provenance
    from mixfield.errors import MixfieldError

    made_by = provenance(options.command_line("generic"), seeds="0", peers=peer_versions())
    every = tasks(options.data_folder(data))
    if unknown := set(model or ()) - set(every):
        raise MixfieldError(f"--model must be one of {', '.join(every)}, got {', '.join(sorted(unknown))}")
    if not page_only:  # in one process, since times are compared
        wanted = {name: every[name] for name in model or every}
        options.measure_missing(measure, wanted, work, "models", workers=1, quiet=as_json)
    rows = list(load_measurements(every, work).values())
    options.print_paths(write_page(rows, made_by, out), as_json=as_json)
