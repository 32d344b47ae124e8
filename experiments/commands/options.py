"""Options and steps that the commands share."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixfield.cli.options import Json as Json

if TYPE_CHECKING:
    from experiments.measurements import Row, Tasks

Data = Annotated[Path | None, typer.Option(help="Folder of the public data.  [default: MIXFIELD_DATA, ../shared/data]")]
Out = Annotated[Path, typer.Option(help="Folder for the page, its figures and its numbers.")]
OUT = Path("docs/reproduction")
Work = Annotated[Path, typer.Option(help="Folder for single measurements; an interrupted run resumes there.")]
Posteriors = Annotated[Path, typer.Option(help="Folder for posteriors; an interrupted run resumes there.")]
POSTERIORS = Path("experiments-occupancy")
Workers = Annotated[int | None, typer.Option(min=1, help="Measurements at a time.  [default: all cores]")]
PageOnly = Annotated[bool, typer.Option("--page-only", help="Write the page from the measurements made so far.")]


def data_folder(folder: Path | None) -> Path:
    """The folder of the public data sets: ``folder`` if given, else the default."""
    return folder or Path(os.environ.get("MIXFIELD_DATA", "../shared/data"))


def command_line(name: str, *, quick: bool = False) -> str:
    """The command that a page states for itself."""
    return f"python -m experiments {name}" + (" --quick" if quick else "")


def resume_hint(work: Path) -> str:
    """The message of an interrupted run: where its posteriors are, and how to resume."""
    return f"posteriors of recorded frames are kept in {work}; the same command resumes from there"


def counted(advance: Callable[[int], None]) -> Callable[[str], None]:
    """A callback that advances by one per call, whatever its argument."""
    calls = count(1)
    return lambda _: advance(next(calls))


def measured(
    measure: Callable[..., Row], tasks: Tasks, folder: Path, title: str, *, page_only: bool, **options: Any
) -> list[Row]:
    """Load the measurements, after those that are missing are made with `measure_missing`, unless ``page_only``."""
    from experiments.measurements import load_measurements

    if not page_only:
        measure_missing(measure, tasks, folder, title, **options)
    return list(load_measurements(tasks, folder).values())


def measure_missing(
    measure: Callable[..., Row],
    tasks: Tasks,
    folder: Path,
    title: str,
    *,
    workers: int | None,
    quiet: bool,
    settings: dict[str, Any] | None = None,
) -> None:
    """Make the measurements that are not in ``folder`` yet.

    Parameters
    ----------
    measure : called with the values of a task.
    tasks : name and values of each measurement.
    folder : one JSON file per measurement; a folder made with other ``settings`` is refused.
    title : of the progress bar.
    workers : processes; None for all cores.
    quiet : show no progress.
    settings : options that the measurements depend on.
    """
    from experiments.measurements import SaveMeasurement, items
    from mixfield import Solver, batch
    from mixfield.cli.batching import engine, follow

    chosen = engine("", workers or Solver().threads, "")
    outcomes = batch.map(SaveMeasurement(measure), items(tasks), folder, settings=settings or {}, engine=chosen)
    follow(outcomes, title, len(tasks), quiet=quiet).conclude(quiet=quiet)


def print_paths(page: Path, *, as_json: bool) -> None:
    """Print where the page and its numbers are."""
    numbers = page.with_suffix(".json")
    typer.echo(json.dumps({"page": str(page), "json": str(numbers)}) if as_json else f"wrote {page}")
