"""``python -m experiments belief``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from experiments.commands import options

if TYPE_CHECKING:
    from experiments.belief.modes import SavedCase
    from experiments.measurements import Row

STEPS = [3, 1]


def belief(
    data: options.Data = None,
    out: options.Out = options.OUT,
    work: options.Work = Path("experiments-belief"),
    step: Annotated[list[int], typer.Option(min=1, help="Reduce images to means of step x step pixels.")] = STEPS,
    every: Annotated[int, typer.Option(min=1, help="Every so many images of a set.")] = 1,
    workers: options.Workers = None,
    model: Annotated[Path | None, typer.Option(help="Write the model that is fitted to all images.")] = None,
    page_only: options.PageOnly = False,
    as_json: options.Json = False,
) -> None:
    """Probabilities of segmentations: losses, answers, orders and offers, by five folds over all sizes together."""
    from experiments.belief import diverse
    from experiments.belief.folds import fit_all, measure_folds, own_field
    from experiments.belief.modes import NETWORKS, SavedCase, field_settings, save_modes, tasks
    from experiments.belief.page import write_page
    from experiments.provenance import provenance

    folder = options.data_folder(data)
    how: dict[str, Any] = {"page_only": page_only, "workers": workers, "quiet": as_json}
    cases: list[SavedCase] = []
    rivals: list[Row] = []
    for size in step:
        place, settings = work / f"step-{size}", {"step": size, "field": field_settings()}
        wanted = tasks(folder, place, step=size, every=every)
        saved = options.measured(save_modes, wanted, place, f"images, step {size}", settings=settings, **how)
        cases += [SavedCase(folder, place, size, row) for row in saved]
        wanted = diverse.tasks(folder, step=size, every=every)
        title = f"images of DivMBest, step {size}"
        rivals += options.measured(diverse.measure, wanted, place / "diverse", title, settings={"step": size}, **how)
    rows = measure_folds(cases)
    if model is not None:
        fit_all(cases, rows).save(model)
    own = [measure_folds([one for one in cases if one.is_of(network, step[0])], own_field) for network in NETWORKS]
    sizes = " ".join(f"--step {size}" for size in step)
    results = {
        "made_by": provenance(f"{options.command_line('belief')} {sizes} --every {every}", steps=step, every=every),
        "rows": rows,
        "own": [row for part in own for row in part],
        "diverse": rivals,
    }
    options.print_paths(write_page(results, out), as_json=as_json)
