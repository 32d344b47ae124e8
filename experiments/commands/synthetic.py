"""``python -m experiments synthetic``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.commands import options


def synthetic(
    out: options.Out = options.OUT,
    work: options.Work = Path("experiments-synthetic"),
    instances: Annotated[int, typer.Option(min=1, help="Fields of each family.")] = 100,
    modes: Annotated[int, typer.Option(min=2, help="Most modes; 13 x 13 stops at 128.")] = 200,
    quick: Annotated[bool, typer.Option("--quick", help="7 x 7, 10 instances, 16 modes, one preset.")] = False,
    add_collapsed: Annotated[
        int,
        typer.Option(min=0, help="Add collapsed mean fields to so many fields of each family of the page."),
    ] = 0,
    page_only: options.PageOnly = False,
    workers: options.Workers = None,
    as_json: options.Json = False,
) -> None:
    """Random fields: KL divergence to the posterior over the number of modes, against clamping and restarts."""
    from experiments.provenance import provenance
    from experiments.synthetic.families import families
    from experiments.synthetic.measure import measure, tasks
    from experiments.synthetic.page import add_collapsed_curves, write_page

    if add_collapsed:
        return options.print_paths(add_collapsed_curves(out, add_collapsed), as_json=as_json)
    chosen = families(("mmmf",), (7,)) if quick else families()
    instances, modes = (min(instances, 10), min(modes, 16)) if quick else (instances, modes)
    wanted = tasks(chosen, instances, modes)
    rows = options.measured(measure, wanted, work, "random fields", page_only=page_only, workers=workers, quiet=as_json)
    seeds = f"instance number, 0 to {instances - 1}"
    made_by = provenance(options.command_line("synthetic", quick=quick), instances=instances, seeds=seeds)
    options.print_paths(write_page(rows, made_by, out), as_json=as_json)
