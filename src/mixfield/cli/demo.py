"""``mixfield demo``: what mean field misses and the modes find."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from mixfield.cli.options import Json, Seed
from mixfield.cli.terminal import Progress, console


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("mixfield-demo"),
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Show on a small field what mean field misses and the modes find."""
    from mixfield.report.motivation import motivation

    with Progress("solving", None, quiet=as_json):
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
    screen = console()
    rows, columns = story.graph.shape
    screen.print(f"A grid of {rows} x {columns} binary variables. Neighbours attract, strongly in the right half;")
    screen.print("evidence for label 1 in the top half, none in the bottom half.\n")
    corner = story.single.marginals[-1, -1, 1]
    screen.print(f"[bold]Mean field[/] is sure of the bottom right quarter: P(1) = {corner:.3f}.")
    screen.print(
        f"[bold]mixfield[/] finds two interpretations, {100 * weights[0]:.0f} % and {100 * weights[1]:.0f} %: "
        f"{int(story.flipped.sum())} variables flip together."
    )
    screen.print(
        f"Exact log-odds of the two: {story.true_log_odds:+.2f} nats, ours: {story.log_odds:+.2f}. "
        f"Distance to the truth (KL): mean field {story.true_log_z - story.single.log_z:.2f} nats, "
        f"mixture {story.true_log_z - story.posterior.log_z:.2f}.\n"
    )
    screen.print(f"picture: {picture}", highlight=False)
    screen.print("next:    mixfield solve model.uai --modes 8", highlight=False)
