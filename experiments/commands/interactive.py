"""``python -m experiments interactive``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from experiments.commands import options


def interactive(
    data: options.Data = None,
    out: options.Out = options.OUT,
    work: options.Work = Path("experiments-interactive"),
    method: Annotated[list[str] | None, typer.Option(help="Measure this method; may be repeated.")] = None,
    every: Annotated[int, typer.Option(min=1, help="Every so many of the objects.")] = 1,
    fit: Annotated[bool, typer.Option("--fit", help="Fit weights; print those of candidates.")] = False,
    page_only: options.PageOnly = False,
    as_json: options.Json = False,
) -> None:
    """Strokes, clicks, alternatives and questions: answers to human strokes, and actions of simulated annotators."""
    import numpy as np

    from experiments.interactive import fitting, local_fitting, tasks
    from experiments.interactive.ceilings import measure_ceiling
    from experiments.interactive.figure import draw
    from experiments.interactive.local_training import train
    from experiments.interactive.measure import measure
    from experiments.interactive.methods import METHODS, installed
    from experiments.interactive.page import write_page
    from experiments.interactive.person import measure_object, measure_photo
    from experiments.provenance import provenance
    from mixfield.errors import MixfieldError

    if unknown := set(method or ()) - set(METHODS):
        raise MixfieldError(f"--method must be one of {', '.join(METHODS)}, got {', '.join(sorted(unknown))}")
    folder = options.data_folder(data)
    # in one process, since times are compared
    measured = partial(options.measured, page_only=page_only, workers=1, quiet=as_json)
    if fit:
        rows = measured(fitting.save_steps, tasks.fits(folder), work / "fit", "objects")
        typer.echo(fitting.fit_weights(fitting.load_steps(rows)))
        pixels = measured(local_fitting.save_pixels, tasks.first_pixel_fits(folder), work / "first-pixels", "images")
        train(*local_fitting.pixels_of(pixels), np.random.default_rng(0)).save(work / "first_model.npz")
        second = tasks.pixel_fits(folder, work / "first_model.npz")
        pixels += measured(local_fitting.save_pixels, second, work / "pixels", "images")
        train(*local_fitting.pixels_of(pixels), np.random.default_rng(0)).save(work / "local_model.npz")
        typer.echo(f"{work / 'local_model.npz'} has the model of pixels around a click")
        models = tuple(work / f"fold_{k}.npz" for k in range(2))
        for names, path in zip(tasks.folds(folder), models, strict=True):
            others = [row for row in pixels if row["object"] not in names]
            train(*local_fitting.pixels_of(others), np.random.default_rng(0)).save(path)
        rows = measured(fitting.save_score_steps, tasks.score_fits(folder, models), work / "score-fit", "objects")
        typer.echo(f"with scores {fitting.fit_weights(fitting.load_steps(rows))}")
        return
    chosen = tuple(method or installed())
    found = {
        "methods": measured(measure, tasks.methods(folder, chosen), work / "methods", "photographs"),
        "persons": measured(measure_photo, tasks.persons(folder), work / "persons", "photographs"),
        "objects": measured(measure_object, tasks.objects(folder, every), work / "objects", "objects"),
        "kept": measured(measure_object, tasks.kept(folder, every), work / "objects", "kept objects"),
        "ceilings": measured(measure_ceiling, tasks.ceilings(folder, every), work / "ceilings", "objects"),
    }
    out.mkdir(parents=True, exist_ok=True)
    draw(folder, out / "interactive.png")
    command = options.command_line("interactive") + (f" --every {every}" if every > 1 else "")
    options.print_paths(write_page(found, provenance(command, seeds="0"), out), as_json=as_json)
