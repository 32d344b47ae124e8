"""What verbs over many items share: the choice of workers, the progress, the summary."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixfield.cli.terminal import console, stop

if TYPE_CHECKING:
    from mixfield.batch import Engine as AnyEngine
    from mixfield.batch import Outcome, Tally

Engine = Annotated[
    str, typer.Option(help="serial, processes or dask.  [default: processes for several workers, dask for a scheduler]")
]
Workers = Annotated[int | None, typer.Option(min=1, help="Items at a time on this machine.  [default: 1]")]
Scheduler = Annotated[str, typer.Option(help="Address of a Dask scheduler, such as tcp://host:8786.")]


def engine(name: str, workers: int | None, scheduler: str) -> AnyEngine:
    """The engine that the options ask for."""
    from mixfield import _threads, batch
    from mixfield.errors import MixfieldError

    name = name or ("dask" if scheduler else "processes" if (workers or 1) > 1 else "serial")
    if name not in ("serial", "processes", "dask"):
        raise MixfieldError(f"--engine must be serial, processes or dask, got {name!r}")
    if scheduler and name != "dask":
        raise MixfieldError(f"--scheduler is for --engine dask, got --engine {name}")
    if scheduler and workers is not None:
        raise MixfieldError("--workers is for this machine; with --scheduler its own workers are used")
    if name == "serial" and (workers or 1) > 1:
        raise MixfieldError(f"--engine serial has one worker, got --workers {workers}")
    if name == "serial":
        return batch.Serial()
    return (
        batch.Dask(scheduler or None, workers) if name == "dask" else batch.Processes(workers or _threads.available())
    )


@dataclass
class Results:
    """What became of a batch: facts and failures by the names of the items."""

    tally: Tally
    facts: dict[str, Any] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def check(self) -> None:
        """Complain if nothing but failures came out: the command is wrong, rather than an item."""
        from mixfield.errors import MixfieldError

        if self.failures and not self.facts:
            name, reason = next(iter(self.failures.items()))
            raise MixfieldError(printable(f"all {len(self.failures)} failed, the first, {name}: {reason}"))

    def conclude(self, *, quiet: bool) -> None:
        """Name what failed; the exit code is 1 then."""
        self.check()
        for name, reason in self.failures.items() if not quiet else ():
            typer.echo(f"failed: {printable(name)}: {printable(reason)}", err=True)
        if self.failures:
            raise typer.Exit(1)


def follow(outcomes: Generator[Outcome], what: str, total: int, *, quiet: bool) -> Results:
    """Go through a batch and show how far it is."""
    from mixfield.batch import Tally

    results = Results(Tally(total))
    try:
        with _shown(what, total, quiet=quiet) as show:
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


def printable(text: str) -> str:
    """A text from outside, such as a file name, without what would steer a terminal or cannot be printed."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


@contextmanager
def _shown(what: str, total: int, *, quiet: bool) -> Iterator[Any]:
    """A bar on a terminal; nothing in a pipe, or if quiet."""
    from rich import progress
    from rich.console import Console

    screen = Console(stderr=True)
    if quiet or not screen.is_terminal:
        yield lambda _: None
        return
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TextColumn("{task.fields[at]}"),
    )
    with progress.Progress(*columns, console=screen, transient=True) as bar:
        task = bar.add_task(what, total=total, at="")
        yield lambda tally: bar.update(task, completed=tally.completed, at=str(tally))


def table(title: str, heads: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    """Print a table; texts are shown as they are."""
    from rich.table import Table
    from rich.text import Text

    found = Table(title=Text(printable(title)), title_justify="left")
    for head in heads:
        found.add_column(head, justify="right")
    for row in rows:
        found.add_row(*(Text(printable(str(value))) for value in row))
    console().print(found)
