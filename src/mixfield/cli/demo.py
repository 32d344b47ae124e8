"""``mixfield demo``: what mean field misses and the modes find, on a photograph, on people, on a graph."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from mixfield.cli.options import Json, Seed, Threads, check_folder, solver
from mixfield.cli.terminal import Progress, console, print_table

AGAIN = "nothing was written, and the same command begins again"


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the page and the figure.")] = Path("mixfield-demo"),
    people: Annotated[bool, typer.Option("--people", help="People in a room, seen by two cameras.")] = False,
    graph: Annotated[bool, typer.Option("--graph", help="A small graphical model with a known answer.")] = False,
    seed: Seed = 0,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Show in a minute what mean field misses and the modes find; needs no data and no network."""
    from mixfield.errors import MixfieldError

    if people and graph:
        raise MixfieldError("choose one demo: --people or --graph")
    check_folder(out)
    if people:
        _people(out, seed, threads, as_json)
    elif graph:
        _graph(out, seed, threads, as_json)
    elif find_spec("skimage") is None:
        typer.echo("the photograph comes with scikit-image (pip install 'mixfield[demo]'); here is the graph", err=True)
        _graph(out, seed, threads, as_json)
    else:
        _photograph(out, seed, threads, as_json)


def _photograph(out: Path, seed: int, threads: int | None, as_json: bool) -> None:
    from mixfield.reports import demos

    with Progress("modes", 4, quiet=as_json, stopped=AGAIN) as advance:
        found = demos.photograph(out, rng=seed, solver=solver(threads), progress=advance)
    if as_json:
        typer.echo(json.dumps(found))
        return
    screen = console()
    screen.print(
        "Somebody scribbled on a photograph: this is the astronaut, that is background. Two questions are open:"
    )
    screen.print("is the black helmet hers, and the black table behind it? A single answer would hide that.\n")
    rows = [
        (k, f"{100 * weight:.1f} %", f"{100 * mode['differs']:.1f} % of the pixels" if k > 1 else "")
        for k, (weight, mode) in enumerate(zip(found["weights"], found["modes"], strict=True), 1)
    ]
    print_table("Interpretations of the same scribbles", ("mode", "probability", "differs from mode 1"), rows)
    scores = f"mixfield segment {out}/image.png --scores {out}/scribbles.png --out mixfield-segment"
    _pointers(found, f"{scores} && mixfield report mixfield-segment")


def _people(out: Path, seed: int, threads: int | None, as_json: bool) -> None:
    from mixfield.reports import demos

    kept = f"the frames that are done are in {out}/modes, and the same command begins again"
    with Progress("frames", demos.FRAMES, quiet=as_json, stopped=kept) as advance:
        found = demos.people(out, rng=seed, solver=solver(threads), progress=advance)
    if as_json:
        typer.echo(json.dumps(found))
        return
    screen = console()
    screen.print("Four people walk through a room; two cameras see noisy silhouettes in which people hide one another.")
    screen.print("Each frame is explained in up to four ways, and the tracks through time choose among them.\n")
    rows = [
        ("frames", found["frames"]),
        ("tracks", found["tracks"]),
        ("people per frame", f"{found['people_per_frame']:.1f}"),
        ("frames in which time chose another mode than the heaviest", found["frames_not_heaviest"]),
        ("distance from the best possible choice, at most", f"{found['gap_percent']:.3f} %"),
    ]
    print_table("What was found", ("", ""), rows)
    _pointers(found, f"mixfield track {out}/modes --cell 0.25 --frame-rate 4 --max-speed 2 --out tracks.csv")


def _graph(out: Path, seed: int, threads: int | None, as_json: bool) -> None:
    from mixfield.reports import demos

    with Progress("steps", demos.STEPS, quiet=as_json, stopped=AGAIN) as advance:
        found = demos.graph(out, rng=seed, solver=solver(threads), progress=advance)
    if as_json:
        typer.echo(json.dumps(found))
        return
    screen = console()
    rows, columns = found["shape"]
    screen.print(f"A grid of {rows} x {columns} binary variables. Neighbours attract, strongly in the right half;")
    screen.print("evidence for label 1 in the top half, none in the bottom half.\n")
    first, second = (f"{100 * weight:.0f} %" for weight in found["weights"][:2])
    table = [
        ("mean field", f"P(1) = {found['corner']:.3f} in the bottom right quarter", _nats(found, "mean_field_log_z")),
        (
            "mixfield",
            f"{first} and {second}: {found['flipped_variables']} variables flip",
            _nats(found, "mixture_log_z"),
        ),
        ("log-odds", f"{found['log_odds']:+.2f} nats", f"exact: {found['exact_log_odds']:+.2f}"),
    ]
    print_table("What they say", ("", "answer", "distance to the truth (KL)"), table)
    _pointers(found, f"mixfield solve {found['model']} --modes 8 --exact")


def _nats(found: dict[str, Any], name: str) -> str:
    return f"{found['exact_log_z'] - found[name]:.2f} nats"


def _pointers(found: dict[str, Any], following: str) -> None:
    screen = console()
    screen.print(f"look at: {found['report']}   figure: {found['figure']}", highlight=False)
    screen.print(f"next:    {following}", highlight=False)
