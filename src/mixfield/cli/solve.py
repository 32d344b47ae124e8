"""``mixfield solve``: the modes of a graphical model."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixfield.cli.options import Json, Seed, Threads, check_target, solver
from mixfield.cli.terminal import Progress, print_table, say

if TYPE_CHECKING:
    from mixfield.energy.factor_graph import FactorGraph
    from mixfield.mixture.posterior import MixturePosterior

NOTHING_WRITTEN = "nothing was written; the same command begins again, and fewer --modes take less time"
MODES_WRITTEN = "the modes are where --out, --pr and --mar said; leave out --exact to be done sooner"


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

    targets = (out, pr, mar)
    for target in targets:
        check_target(target)
    graph = mf.read_uai(model, evidence)
    started = time.perf_counter()
    with Progress("modes", modes, quiet=as_json, stopped=NOTHING_WRITTEN) as advance, solver(threads) as how:
        posterior = mf.infer(graph, modes, rng=seed, solver=how, progress=advance)
    seconds = time.perf_counter() - started
    _write(posterior, graph, *targets)
    exact = _exact_log_z(graph, quiet=as_json) if compare else None
    if as_json:
        typer.echo(json.dumps(summary(posterior) | {"exact_log_z": exact, "seconds": seconds}))
        return
    _print(posterior, f"{model.name}: {graph.n} variables, {seconds:.2f} s")
    if exact is not None:
        say(f"exact log Z {exact:.4f}: the mixture is {exact - posterior.log_z:.4f} nats from it")
    say(*(f"wrote {path}" for path in targets if path is not None))


def summary(posterior: MixturePosterior) -> dict[str, Any]:
    """A posterior as numbers and strings, for ``--json``."""
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


def _write(
    posterior: MixturePosterior, graph: FactorGraph, out: Path | None, pr: Path | None, mar: Path | None
) -> None:
    from mixfield.io import uai

    if out is not None:
        posterior.save(out)
    if pr is not None:
        uai.write_pr(pr, posterior.log_z)
    if mar is not None:
        uai.write_mar(mar, posterior.marginals(), graph.label_counts.tolist())


def _exact_log_z(graph: FactorGraph, *, quiet: bool) -> float | None:
    """log Z by elimination; None, with a message, where it takes too much memory."""
    import mixfield as mf
    from mixfield.errors import TooLargeError

    try:
        with Progress("exact log Z", None, quiet=quiet, stopped=MODES_WRITTEN):
            return mf.exact(graph).log_z
    except TooLargeError as error:
        typer.echo(f"no exact answer: {error}", err=True)
        return None


def _print(posterior: MixturePosterior, title: str) -> None:
    """A table of the modes, log Z and the notes."""
    first = posterior.modes[0].labeling()
    rows = [
        (
            k,
            f"{weight:.4f}",
            f"{mode.log_z:.4f}",
            f"{mode.mass_inside:.6f}",
            int((mode.labeling() != first).sum()),
            "yes" if mode.converged else "no",
        )
        for k, (weight, mode) in enumerate(zip(posterior.weights, posterior.modes, strict=True), 1)
    ]
    print_table(title, ("mode", "weight", "log Z_k", "mass inside", "variables that differ", "converged"), rows)
    say(f"log Z~ = {posterior.log_z:.4f} (a lower bound), T_max = {posterior.t_max:.3g}")
    say(*(f"note: {note}" for note in posterior.notes))
