"""``python -m experiments segmentation``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.commands import options


def segmentation(
    data: options.Data = None,
    out: options.Out = options.OUT,
    work: options.Work = Path("experiments-segmentation"),
    modes: Annotated[int, typer.Option(min=2, help="Segmentations of every seventh image; others get 8.")] = 32,
    images: Annotated[int | None, typer.Option(min=1, help="Images of each set.  [default: all]")] = None,
    step: Annotated[
        int | None, typer.Option(help="Measure images of one size only: 3 for a third, 1 for the whole.")
    ] = None,
    page_only: options.PageOnly = False,
    workers: Annotated[int, typer.Option(min=1, help="Measurements at a time.")] = 1,
    as_json: options.Json = False,
) -> None:
    """Still images: the best of K segmentations against DivMBest, restarts and noise, on two networks."""
    from experiments.measurements import load_measurements
    from experiments.provenance import provenance
    from experiments.segmentation.measure import measure
    from experiments.segmentation.page import write_page
    from experiments.segmentation.pictures import write_pictures
    from experiments.segmentation.plan import DEFAULT_COUNT, NETWORKS, tasks

    folder = options.data_folder(data)
    every = tasks(folder, count=modes, images=images)
    if not page_only:
        wanted = tasks(folder, count=modes, images=images, step=step)
        settings = {"modes": modes}
        options.measure_missing(measure, wanted, work, "images", workers=workers, quiet=as_json, settings=settings)
    rows = list(load_measurements(every, work).values())
    protocol = {"modes": modes, "images": images, "measured": len(rows), "tasks": len(every), "seeds": "0"}
    made_by = provenance(options.command_line("segmentation"), **protocol)
    pictures = write_pictures(folder, rows, out, net=NETWORKS[0], count=DEFAULT_COUNT)
    options.print_paths(write_page(rows, made_by, pictures, out), as_json=as_json)
