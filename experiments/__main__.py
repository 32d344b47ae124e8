"""``python -m experiments``: one command per experiment."""

from __future__ import annotations

import os
import sys

import typer

from experiments.commands.basins import basins
from experiments.commands.belief import belief
from experiments.commands.collapsed import collapsed
from experiments.commands.generic import generic
from experiments.commands.interactive import interactive
from experiments.commands.learning import learning
from experiments.commands.motivation import motivation
from experiments.commands.occupancy import occupancy
from experiments.commands.people import people
from experiments.commands.segmentation import segmentation
from experiments.commands.synthetic import synthetic
from experiments.commands.temperature import temperature
from experiments.commands.tracking import tracking
from experiments.commands.uai import uai
from experiments.commands.video import video
from mixfield.cli.options import Threads
from mixfield.cli.terminal import stoppable

app = typer.Typer(
    name="experiments",
    help="Repeat an experiment: numbers, figure and page.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
COMMANDS = (
    occupancy,
    tracking,
    people,
    synthetic,
    temperature,
    motivation,
    generic,
    collapsed,
    basins,
    uai,
    segmentation,
    belief,
    video,
    interactive,
    learning,
)
for command in COMMANDS:
    app.command()(stoppable(command))


@app.callback()
def _threads(threads: Threads = None) -> None:
    """Repeat an experiment: numbers, figure and page."""
    if threads is not None:
        os.environ["MIXFIELD_THREADS"] = str(threads)


def main() -> None:
    """Run an experiment; invalid input prints one sentence and exits with code 2."""
    from mixfield.errors import MixfieldError, sentence

    try:
        app()
    except (MixfieldError, OSError) as error:
        typer.echo(f"experiments: {sentence(error)}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
