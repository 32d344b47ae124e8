"""``python -m experiments tracking``."""

from __future__ import annotations

from typing import Annotated

import typer

from experiments.commands import options
from mixfield.cli.terminal import Progress


def tracking(
    data: options.Data = None,
    out: options.Out = options.OUT,
    work: options.Posteriors = options.POSTERIORS,
    frames: Annotated[int, typer.Option(min=0, max=400, help="Frames of PETS; 0 for the synthetic walks only.")] = 400,
    scenes: Annotated[int, typer.Option(min=0, help="Synthetic walks with ambiguous frames.")] = 5,
    page_only: options.PageOnly = False,
    workers: options.Workers = None,
    as_json: options.Json = False,
) -> None:
    """People through time: MODA with and without tracks, on PETS 2009 and on synthetic walks."""
    from experiments.people.frames import frame_modes
    from experiments.people.pets import recordings
    from experiments.provenance import provenance
    from experiments.tracking.measure import measure, tasks
    from experiments.tracking.page import write_page
    from experiments.tracking.sources import Recording, SyntheticWalk

    chosen = recordings(options.data_folder(data)) if frames else []
    recorded = [Recording(recording, frames, recording.posterior_folder(work)) for recording in chosen]
    wanted = tasks([*recorded, *map(SyntheticWalk, range(scenes))])
    folder = work / f"tracking-{frames}"
    if not page_only:
        steps = len(recorded) * frames
        with Progress("modes of frames", steps, quiet=as_json, stopped=options.resume_hint(work)) as advance:
            report = options.counted(advance)
            for source in recorded:
                frame_modes(source.recording, range(frames), source.folder, report)
    rows = options.measured(measure, wanted, folder, "tracks", page_only=page_only, workers=workers, quiet=as_json)
    made_by = provenance(options.command_line("tracking"), frames=frames, seeds=f"0 to {scenes - 1} for walks")
    options.print_paths(write_page(rows, made_by, out), as_json=as_json)
