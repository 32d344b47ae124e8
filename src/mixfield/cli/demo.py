"""``mixfield demo``: a photograph, people in a room or a graph, in which mean field misses an interpretation."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from mixfield.cli.options import Json, Seed, Threads, check_folder, solver
from mixfield.cli.terminal import Progress, command, print_table, say

NOTHING_WRITTEN = "nothing was written, and the same command begins again"


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the page and the results.")] = Path("mixfield-demo"),
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
    if not people and not graph and find_spec("skimage") is None:
        typer.echo("the photograph comes with scikit-image (pip install 'mixfield[demo]'); here is the graph", err=True)
        graph = True
    run, show = (_people, _print_people) if people else (_graph, _print_graph) if graph else (_photo, _print_photo)
    with solver(threads) as how:
        facts = run(out, {"rng": seed, "solver": how}, as_json)
    if as_json:
        typer.echo(json.dumps(facts))
        return
    following = show(facts, out)
    say(f"look at: {facts['report']}", f"next:    {following}")


def _photo(out: Path, options: dict[str, Any], quiet: bool) -> dict[str, Any]:
    from mixfield.reports import demos

    with Progress("modes", 4, quiet=quiet, stopped=NOTHING_WRITTEN) as advance:
        return demos.photograph(out, progress=advance, **options)


def _people(out: Path, options: dict[str, Any], quiet: bool) -> dict[str, Any]:
    from mixfield.reports import demos

    kept = f"the frames that are done are in {out}/modes, and the same command begins again"
    with Progress("frames", demos.FRAMES, quiet=quiet, stopped=kept) as advance:
        return demos.people(out, progress=advance, **options)


def _graph(out: Path, options: dict[str, Any], quiet: bool) -> dict[str, Any]:
    from mixfield.reports import demos

    with Progress("steps", demos.STEPS, quiet=quiet, stopped=NOTHING_WRITTEN) as advance:
        return demos.graph(out, progress=advance, **options)


def _print_photo(facts: dict[str, Any], out: Path) -> str:
    """Print what was found; returns the command to try next."""
    from mixfield.reports.about import weight_name

    say(
        "An annotator scribbled on a photograph: this is the astronaut, that is background. Two questions are open:",
        "is the black helmet hers, and the black table behind it? A single answer would hide that.\n",
    )
    rows = [
        (k, f"{100 * weight:.1f} %", f"{100 * mode['differs']:.1f} % of the pixels" if k > 1 else "")
        for k, (weight, mode) in enumerate(zip(facts["weights"], facts["modes"], strict=True), 1)
    ]
    heads = ("mode", weight_name(facts["calibrated"]), "differs from mode 1")
    print_table("Interpretations of the same scribbles", heads, rows)
    given = ("--scores", out / "scribbles.png", "--names", out / "labels.txt")
    first = command("mixfield", "segment", out / "image.png", *given, "--out", "mixfield-segment")
    return f"{first} && mixfield report mixfield-segment"


def _print_people(facts: dict[str, Any], out: Path) -> str:
    """Print what was found; returns the command to try next."""
    say(
        "Four people walk through a room; two cameras see noisy silhouettes in which people hide one another.",
        "Each frame is explained in up to four ways, and the tracks through time choose among them.\n",
    )
    rows = [
        ("frames", facts["frames"]),
        ("tracks", facts["tracks"]),
        ("people per frame", f"{facts['people_per_frame']:.1f}"),
        ("frames in which time chose another mode than the heaviest", facts["frames_not_heaviest"]),
        ("distance from the best possible choice, at most", f"{facts['gap_percent']:.3f} %"),
    ]
    print_table("What was found", ("", ""), rows)
    limits = ("--cell", 0.25, "--frame-rate", 4, "--max-speed", 2)
    return command("mixfield", "track", out / "modes", *limits, "--out", "tracks.csv")


def _print_graph(facts: dict[str, Any], _out: Path) -> str:
    """Print what was found; returns the command to try next."""
    height, width = facts["shape"]
    say(
        f"A grid of {height} x {width} binary variables. Neighbours attract, strongly in the right half;",
        "evidence for label 1 in the top half, none in the bottom half.\n",
    )
    first, second = (f"{100 * weight:.0f} %" for weight in facts["weights"][:2])
    mean_field, mixture = (
        f"{facts['exact_log_z'] - facts[name]:.2f} nats" for name in ("mean_field_log_z", "mixture_log_z")
    )
    rows = [
        ("mean field", f"P(1) = {facts['corner']:.3f} in the bottom right quarter", mean_field),
        ("mixfield", f"{first} and {second}: {facts['differing_variables']} variables differ", mixture),
        ("log-odds", f"{facts['log_odds']:+.2f} nats", f"exact: {facts['exact_log_odds']:+.2f}"),
    ]
    print_table("What they say", ("", "answer", "distance to the truth (KL)"), rows)
    return command("mixfield", "solve", facts["model"], "--modes", 8, "--exact")
