"""Options, progress and summary of verbs that work on many items."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixfield.cli.terminal import printable, stop

if TYPE_CHECKING:
    from mixfield.batch import Engine as AnyEngine
    from mixfield.batch import Outcome, Tally

SUMMARY = "summary.json"
RESERVED = ("manifest.jsonl", SUMMARY, "settings.json", "report.html", "coco.json", "panoptic", "panoptic.json")
# files of a batch beside the folders of results

Engine = Annotated[
    str, typer.Option(help="serial, processes or dask.  [default: processes for several workers, dask for a scheduler]")
]
Workers = Annotated[int | None, typer.Option(min=1, help="Items at a time on this machine.  [default: 1]")]
Scheduler = Annotated[str, typer.Option(help="Address of a Dask scheduler, such as tcp://host:8786.")]


def engine(name: str, workers: int | None, scheduler: str) -> AnyEngine:
    """The engine for ``--engine``, ``--workers`` and ``--scheduler``."""
    from mixfield import _threads, batch

    name = name or ("dask" if scheduler else "processes" if (workers or 1) > 1 else "serial")
    _check(name, workers, scheduler)
    if name == "serial":
        return batch.Serial()
    if name == "dask":
        return batch.Dask(scheduler or None, workers)
    return batch.Processes(workers or _threads.available())


def _check(name: str, workers: int | None, scheduler: str) -> None:
    from mixfield.errors import MixfieldError

    if name not in ("serial", "processes", "dask"):
        raise MixfieldError(f"--engine must be serial, processes or dask, got {name!r}")
    if scheduler and name != "dask":
        raise MixfieldError(f"--scheduler is for --engine dask, got --engine {name}")
    if scheduler and workers is not None:
        raise MixfieldError("--workers is for this machine; with --scheduler its own workers are used")
    if name == "serial" and (workers or 1) > 1:
        raise MixfieldError(f"--engine serial has one worker, got --workers {workers}")


def reserved(files: Iterable[Path]) -> dict[str, str]:
    """The reason why a file cannot be an item, by name: the folder of its results would replace a file of the batch."""
    return {
        file.name: f"its results cannot be in a folder called {file.stem}, a file of the batch has this name; rename it"
        for file in files
        if file.stem.casefold() in RESERVED  # some file systems do not distinguish case
    }


@dataclass
class Results:
    """Facts and failures of a batch, by item name."""

    tally: Tally
    facts: dict[str, Any] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def check(self) -> None:
        """Raise a `MixfieldError` if every item failed: then the command is wrong rather than an item."""
        from mixfield.errors import MixfieldError

        if self.failures and not self.facts:
            name, reason = next(iter(self.failures.items()))
            raise MixfieldError(printable(f"all {len(self.failures)} failed, the first, {name}: {reason}"))

    def conclude(self, *, quiet: bool) -> None:
        """Print the failures; with any, the exit code is 1."""
        self.check()
        for name, reason in self.failures.items() if not quiet else ():
            typer.echo(f"failed: {printable(name)}: {printable(reason)}", err=True)
        if self.failures:
            raise typer.Exit(1)


def follow(outcomes: Generator[Outcome], what: str, total: int, *, quiet: bool) -> Results:
    """Collect the outcomes of a batch and show its progress."""
    from mixfield.batch import Tally

    results = Results(Tally(total))
    try:
        with _progress_bar(what, total, quiet=quiet) as show:
            for outcome in outcomes:
                results.tally.add(outcome)
                show(results.tally)
                if outcome.failure is None:
                    results.facts[outcome.name] = outcome.facts
                else:
                    results.failures[outcome.name] = outcome.failure
    except KeyboardInterrupt:
        outcomes.close()
        raise stop("the same command goes on from here", so_far=f" ({results.tally})") from None
    return results


@contextmanager
def _progress_bar(what: str, total: int, *, quiet: bool) -> Iterator[Callable[[Tally], None]]:
    """A function that shows a tally: a bar on a terminal, nothing in a pipe or if quiet."""
    from rich import progress
    from rich.console import Console

    screen = Console(stderr=True)
    if quiet or not screen.is_terminal:
        yield lambda _: None
        return
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TextColumn("{task.fields[tally]}"),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=screen, transient=True) as bar:
        task = bar.add_task(what, total=total, tally="")
        yield lambda tally: bar.update(task, completed=tally.completed, tally=str(tally))
