"""``python -m experiments belief``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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
    from experiments.belief import diverse
    from experiments.belief.folds import fit_all, measure_folds, own_field
    from experiments.belief.modes import NETWORKS, SavedCase, save_modes, tasks
    from experiments.belief.page import write_page
    from experiments.provenance import provenance

    folder = options.data_folder(data)
    settings = {"step": step}
    how: dict[str, Any] = {"page_only": page_only, "workers": workers, "quiet": as_json, "settings": settings}
    wanted = tasks(folder, work, step=step, every=every)
    saved = options.measured(save_modes, wanted, work, "images", **how)
    wanted = diverse.tasks(folder, step=step, every=every)
    rivals = options.measured(diverse.measure, wanted, work / "diverse", "images of DivMBest", **how)
    cases = [SavedCase(folder, work, step, row) for row in saved]
    rows = measure_folds(cases)
    if model is not None:
        fit_all(cases, rows).save(model)
    own = [measure_folds([case for case in cases if case.network == network], own_field) for network in NETWORKS]
    command = f"{options.command_line('belief')} --step {step} --every {every}"
    results = {
        "made_by": provenance(command, **settings, every=every),
        "rows": rows,
        "own": [row for part in own for row in part],
        "diverse": rivals,
    }
    options.print_paths(write_page(results, out), as_json=as_json)
