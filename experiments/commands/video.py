"""``python -m experiments video``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.commands import options


def video(
    data: options.Data = None,
    out: options.Out = options.OUT,
    work: options.Work = Path("experiments-video"),
    modes: Annotated[int, typer.Option(min=2, help="Modes of a frame.")] = 8,
    every: Annotated[int, typer.Option(min=1, help="Every so many frames of a sequence.")] = 1,
    step: Annotated[int, typer.Option(min=1, help="Reduce frames to means of step x step pixels.")] = 3,
    page_only: options.PageOnly = False,
    as_json: options.Json = False,
) -> None:
    """Videos: one mode per frame by network, colours and shapes, against mean field, chance and an oracle."""
    from experiments.provenance import provenance
    from experiments.video.measure import measure, tasks
    from experiments.video.page import write_page

    wanted = tasks(options.data_folder(data), count=modes, every=every, step=step)
    settings = {"modes": modes, "every": every, "step": step}
    rows = options.measured(
        measure, wanted, work, "sequences", page_only=page_only, workers=1, quiet=as_json, settings=settings
    )
    command = f"{options.command_line('video')} --modes {modes} --every {every} --step {step}"
    options.print_paths(write_page(rows, provenance(command, **settings, seeds="0"), out), as_json=as_json)
