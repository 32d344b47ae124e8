"""What people see: tables, a progress bar with the time left; and what programs read."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from itertools import count
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from mixfield.mixture.posterior import MixturePosterior


def summary(posterior: MixturePosterior) -> dict[str, Any]:
    """A posterior as plain numbers and strings."""
    return {
        "log_z": posterior.log_z,
        "weights": posterior.weights.tolist(),
        "modes": [
            {
                "log_z": mode.log_z,
                "mass_inside": mode.mass_inside,
                "converged": mode.converged,
                "constraints": [str(c) for c in mode.constraints],
                "labeling": mode.labeling().ravel().tolist(),
            }
            for mode in posterior.modes
        ],
        "t_max": posterior.t_max,
        "notes": list(posterior.notes),
    }


def console() -> Any:
    """Where results are printed."""
    from rich.console import Console

    return Console(soft_wrap=True)


def print_modes(posterior: MixturePosterior, title: str) -> None:
    """A table of the modes of a posterior, and its notes."""
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for name in ("mode", "weight", "log Z_k", "mass inside", "differs from mode 1", "converged"):
        table.add_column(name, justify="right")
    first = posterior.modes[0].labeling()
    for k, (weight, mode) in enumerate(zip(posterior.weights, posterior.modes, strict=True), 1):
        differs = int((mode.labeling() != first).sum())
        converged = "yes" if mode.converged else "no"
        table.add_row(str(k), f"{weight:.4f}", f"{mode.log_z:.4f}", f"{mode.mass_inside:.6f}", str(differs), converged)
    screen = console()
    screen.print(table)
    screen.print(f"log Z~ = {posterior.log_z:.4f} (a lower bound), T_max = {posterior.t_max:.3g}")
    for note in posterior.notes:
        screen.print(f"note: {note}", highlight=False)


def print_table(title: str, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table; its first column to the left, numbers to the right."""
    from rich.table import Table

    table = Table(title=title, title_justify="left", show_header=any(heads))
    for k, head in enumerate(heads):
        table.add_column(head, justify="left" if k == 0 else "right")
    for row in rows:
        table.add_row(*map(str, row))
    console().print(table)


AGAIN = "give the same command again"


def stop(left: str, *, so_far: str = "") -> typer.Exit:
    """Say that Ctrl-C was heard, what is left and how to go on; raise what comes back."""
    typer.echo(f"mixfield: stopped{so_far}; {left}", err=True)
    return typer.Exit(130)


def stoppable(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb, which ends in good order on Ctrl-C wherever it is."""

    @wraps(verb)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            verb(*arguments, **options)
        except KeyboardInterrupt:
            raise stop(AGAIN) from None

    return run


class Progress:
    """A progress bar with the time left, on a terminal; library warnings become notes of the result.

    On Ctrl-C it says ``stopped``: what is left and how to go on.
    """

    def __init__(self, what: str, total: int | None, *, quiet: bool, stopped: str = AGAIN) -> None:
        from rich import progress
        from rich.console import Console

        console = Console(stderr=True)
        columns = (progress.TextColumn("{task.description}"), progress.BarColumn(), progress.TimeRemainingColumn())
        self.bar = progress.Progress(
            *columns, console=console, transient=True, disable=quiet or not console.is_terminal
        )
        self.task = self.bar.add_task(what, total=total)
        self.silence = warnings.catch_warnings()
        self.stopped = stopped

    def __enter__(self) -> Any:
        self.silence.__enter__()
        warnings.simplefilter("ignore")
        try:
            self.bar.start()
        except KeyboardInterrupt:
            self.bar.stop()  # or else the cursor stays hidden
            raise
        return lambda done, total=None: self.bar.update(self.task, completed=done, total=total)

    def __exit__(self, kind: type[BaseException] | None, *exc: object) -> None:
        self.bar.stop()
        self.silence.__exit__(None, None, None)
        if kind is KeyboardInterrupt:
            raise stop(self.stopped) from None


def counted(advance: Callable[[int], None]) -> Callable[[str], None]:
    """Advance by one for each thing that is told."""
    done = count(1)
    return lambda _: advance(next(done))
