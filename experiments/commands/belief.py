"""``python -m experiments belief``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from experiments.commands import options


def belief(
    data: options.Data = None,
    out: options.Out = options.OUT,
    work: options.Work = Path("experiments-belief"),
    step: Annotated[int, typer.Option(min=1, help="Reduce images to means of step x step pixels.")] = 3,
    every: Annotated[int, typer.Option(min=1, help="Every so many images of a set.")] = 1,
    workers: options.Workers = None,
    model: Annotated[Path | None, typer.Option(help="Write the model that is fitted to all images.")] = None,
    page_only: options.PageOnly = False,
    as_json: options.Json = False,
) -> None:
    """Probabilities of segmentations: losses, answers, orders and offers, by five folds."""
    from experiments.belief.folds import fit_all, measure_folds
    from experiments.belief.modes import load_case, save_modes, tasks
    from experiments.belief.page import write_page
    from experiments.provenance import provenance

    folder = options.data_folder(data)
    wanted = tasks(folder, work, step=step, every=every)
    settings = {"step": step}
    options.measured(
        save_modes, wanted, work, "images", page_only=page_only, workers=workers, quiet=as_json, settings=settings
    )
    cases = [partial(load_case, *values) for values in wanted.values()]
    rows = measure_folds(cases)
    if model is not None:
        fit_all(cases, rows).save(model)
    command = f"{options.command_line('belief')} --step {step} --every {every}"
    options.print_paths(write_page(rows, provenance(command, **settings, every=every), out), as_json=as_json)
