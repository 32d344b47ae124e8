"""``mixfield solve``: the modes of a graphical model."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from mixfield.cli.options import Json, Seed, Threads, check_target, solver
from mixfield.cli.terminal import Progress, console, print_modes, summary

KEPT = "the modes are where --out, --pr and --mar said; leave out --exact to be done sooner"


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
        check_target(target)
    graph = mf.read_uai(model, evidence)
    started = time.perf_counter()
    fewer = "nothing was written; the same command begins again, and fewer --modes take less time"
    with Progress("modes", modes, quiet=as_json, stopped=fewer) as advance:
        posterior = mf.infer(graph, modes, rng=seed, solver=solver(threads), progress=advance)
    seconds = time.perf_counter() - started
    if out is not None:
        posterior.save(out)
    if pr is not None:
        uai.write_pr(pr, posterior.log_z)
    if mar is not None:
        uai.write_mar(mar, posterior.marginals(), graph.label_counts.tolist())
    truth = _exact_log_z(graph, quiet=as_json) if compare else None
    if as_json:
        typer.echo(json.dumps(summary(posterior) | {"exact_log_z": truth, "seconds": seconds}))
        return
    print_modes(posterior, f"{model.name}: {graph.n} variables, {seconds:.2f} s")
    if truth is not None:
        console().print(f"exact log Z {truth:.4f}: the mixture is {truth - posterior.log_z:.4f} nats from it")
    for path in (path for path in (out, pr, mar) if path is not None):
        console().print(f"wrote {path}", highlight=False)


def _exact_log_z(graph: Any, *, quiet: bool) -> float | None:
    import mixfield as mf
    from mixfield.errors import TooLargeError

    try:
        with Progress("exact log Z", None, quiet=quiet, stopped=KEPT):
            return float(mf.exact(graph).log_z)
    except TooLargeError as error:
        typer.echo(f"no exact answer: {error}", err=True)
        return None
