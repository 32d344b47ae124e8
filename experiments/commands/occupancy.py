"""``python -m experiments occupancy``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from experiments.commands import options
from mixfield.cli.terminal import Progress


def occupancy(
    data: options.Data = None,
    out: options.Out = options.OUT,
    work: options.Posteriors = options.POSTERIORS,
    frames: Annotated[
        int, typer.Option(min=1, max=400, help="Frames of PETS, evenly spread over the first 400.")
    ] = 400,
    scenes: Annotated[int, typer.Option(min=1, help="Synthetic scenes of ten frames per setting.")] = 10,
    as_json: options.Json = False,
) -> None:
    """People detection: MODA over the distance threshold on PETS 2009, and synthetic scenes."""
    from experiments.occupancy.page import write_page
    from experiments.occupancy.pets_curves import pets_curves
    from experiments.occupancy.synthetic_scenes import WALKS, synthetic_hits
    from experiments.people.pets import ANNOTATED, recordings

    chosen = recordings(options.data_folder(data))
    numbers = [k * ANNOTATED // frames for k in range(frames)]
    results: dict[str, Any] = {"pets": [], "synthetic": []}
    steps = len(numbers) * len(chosen) + scenes * len(WALKS)
    with Progress("frames and scenes", steps, quiet=as_json, stopped=options.resume_hint(work)) as advance:
        report = options.counted(advance)
        for recording in chosen:
            folder = recording.posterior_folder(work)
            results["pets"].append(pets_curves(recording, numbers, folder, report))
        for people, cameras in WALKS:
            results["synthetic"].append(synthetic_hits(people, cameras, report, scenes=scenes))
    options.print_paths(write_page(results, out), as_json=as_json)
