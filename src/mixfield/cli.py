"""The command line: parse, call the public function, write, print."""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from mixfield.mixture.posterior import MixturePosterior

app = typer.Typer(
    help="Several weighted interpretations of a discrete random field, where mean field returns one.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for programs.")]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same answer.")]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads; they do not change the answer.  [default: all]")]


def main() -> None:
    """Run the command line: bad input is one sentence and exit code 2."""
    from mixfield.errors import MixfieldError

    try:
        app()
    except (MixfieldError, OSError) as error:
        typer.echo(f"mixfield: {error}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        typer.echo("mixfield: stopped", err=True)
        sys.exit(130)


@app.callback(invoke_without_command=True)
def version(show: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False) -> None:
    if show:
        from mixfield import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.command()
def solve(
    model: Annotated[Path, typer.Argument(help="A model in UAI format (MARKOV or BAYES).")],
    evidence: Annotated[Path | None, typer.Option(help="A UAI evidence file.")] = None,
    modes: Annotated[int, typer.Option(min=1, help="How many modes to look for.")] = 8,
    out: Annotated[Path | None, typer.Option(help="Save the posterior here (.npz, read by mixfield.load).")] = None,
    pr: Annotated[Path | None, typer.Option(help="Write log10 Z here, as a UAI PR answer.")] = None,
    mar: Annotated[Path | None, typer.Option(help="Write the marginals here, as a UAI MAR answer.")] = None,
    compare: Annotated[
        bool, typer.Option("--exact", help="Compare with the exact log Z where that is feasible.")
    ] = False,
    seed: Seed = 0,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Find the modes of a graphical model."""
    import mixfield as mf
    from mixfield.io import uai

    for target in (out, pr, mar):
        _check_target(target)
    graph = mf.read_uai(model, evidence)
    started = time.perf_counter()
    with _Progress("modes", modes, quiet=as_json) as advance:
        posterior = mf.infer(graph, modes, rng=seed, solver=_solver(threads), progress=advance)
    seconds = time.perf_counter() - started
    truth = _exact_log_z(graph) if compare else None
    if out is not None:
        posterior.save(out)
    if pr is not None:
        uai.write_pr(pr, posterior.log_z)
    if mar is not None:
        uai.write_mar(mar, posterior.marginals(), graph.label_counts.tolist())
    if as_json:
        typer.echo(json.dumps(_summary(posterior) | {"exact_log_z": truth, "seconds": seconds}))
        return
    _print_modes(posterior, f"{model.name}: {graph.n} variables, {seconds:.2f} s")
    if truth is not None:
        _console().print(f"exact log Z {truth:.4f}: the mixture is {truth - posterior.log_z:.4f} nats from it")
    for path in (path for path in (out, pr, mar) if path is not None):
        _console().print(f"wrote {path}", highlight=False)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("mixfield-demo"),
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Show on a small field what mean field misses and the modes find."""
    from mixfield.report.motivation import motivation

    with _Progress("solving", None, quiet=as_json):
        story = motivation(rng=seed)
    out.mkdir(parents=True, exist_ok=True)
    picture = out / "four-zones.svg"
    picture.write_text(story.svg(), encoding="utf-8")
    weights = story.posterior.weights
    facts = {
        "picture": str(picture),
        "flipped_variables": int(story.flipped.sum()),
        "mean_field_log_z": story.single.log_z,
        "mixture_log_z": story.posterior.log_z,
        "exact_log_z": story.true_log_z,
        "log_odds": story.log_odds,
        "exact_log_odds": story.true_log_odds,
        "weights": weights.tolist(),
    }
    if as_json:
        typer.echo(json.dumps(facts))
        return
    console = _console()
    rows, columns = story.graph.shape
    console.print(f"A grid of {rows} x {columns} binary variables. Neighbours attract, strongly in the right half;")
    console.print("evidence for label 1 in the top half, none in the bottom half.\n")
    corner = story.single.marginals[-1, -1, 1]
    console.print(f"[bold]Mean field[/] is sure of the bottom right quarter: P(1) = {corner:.3f}.")
    console.print(
        f"[bold]mixfield[/] finds two interpretations, {100 * weights[0]:.0f} % and {100 * weights[1]:.0f} %: "
        f"{int(story.flipped.sum())} variables flip together."
    )
    console.print(
        f"Exact log-odds of the two: {story.true_log_odds:+.2f} nats, ours: {story.log_odds:+.2f}. "
        f"Distance to the truth (KL): mean field {story.true_log_z - story.single.log_z:.2f} nats, "
        f"mixture {story.true_log_z - story.posterior.log_z:.2f}.\n"
    )
    console.print(f"picture: {picture}", highlight=False)
    console.print("next:    mixfield solve model.uai --modes 8", highlight=False)


def _check_target(path: Path | None) -> None:
    """Complain about an output that cannot be written before the work is done, not after."""
    from mixfield.errors import MixfieldError

    if path is not None and not path.parent.is_dir():
        raise MixfieldError(f"cannot write {path}: the folder {path.parent} does not exist")
    if path is not None and path.is_dir():
        raise MixfieldError(f"cannot write {path}: it is a folder, give the name of a file")


def _solver(threads: int | None) -> Any:
    import mixfield as mf

    return mf.Solver() if threads is None else mf.Solver(threads=threads)


def _exact_log_z(graph: Any) -> float | None:
    import mixfield as mf
    from mixfield.errors import TooLargeError

    try:
        return float(mf.exact(graph).log_z)
    except TooLargeError as error:
        typer.echo(f"no exact answer: {error}", err=True)
        return None


def _summary(posterior: MixturePosterior) -> dict[str, Any]:
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


def _console() -> Any:
    from rich.console import Console

    return Console(soft_wrap=True)


def _print_modes(posterior: MixturePosterior, title: str) -> None:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for name in ("mode", "weight", "log Z_k", "mass inside", "differs from mode 1", "converged"):
        table.add_column(name, justify="right")
    first = posterior.modes[0].labeling()
    for k, (weight, mode) in enumerate(zip(posterior.weights, posterior.modes, strict=True), 1):
        differs = int((mode.labeling() != first).sum())
        converged = "yes" if mode.converged else "no"
        table.add_row(str(k), f"{weight:.4f}", f"{mode.log_z:.4f}", f"{mode.mass_inside:.6f}", str(differs), converged)
    console = _console()
    console.print(table)
    console.print(f"log Z~ = {posterior.log_z:.4f} (a lower bound), T_max = {posterior.t_max:.3g}")
    for note in posterior.notes:
        console.print(f"note: {note}", highlight=False)


class _Progress:
    """A progress bar with the time left, on a terminal; library warnings become notes of the result."""

    def __init__(self, what: str, total: int | None, *, quiet: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
        self.bar = Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal)
        self.task = self.bar.add_task(what, total=total)
        self.silence = warnings.catch_warnings()

    def __enter__(self) -> Any:
        self.silence.__enter__()
        warnings.simplefilter("ignore")
        self.bar.start()
        return lambda done: self.bar.update(self.task, completed=done)

    def __exit__(self, *exc: object) -> None:
        self.bar.stop()
        self.silence.__exit__(None, None, None)


if __name__ == "__main__":
    main()
