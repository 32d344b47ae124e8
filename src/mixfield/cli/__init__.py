"""The command line, one file per verb: parse, call the library, write files, print."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from mixfield.cli import annotate, demo, detect, fit, report, segment, solve, track, video
from mixfield.cli.terminal import stoppable

app = typer.Typer(
    name="mixfield",
    help="Several weighted interpretations of a discrete random field, where mean field returns one.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
VERBS = (
    demo.demo,
    solve.solve,
    segment.segment,
    annotate.annotate,
    fit.fit,
    video.video,
    detect.detect,
    track.track,
    report.report,
)
for verb in VERBS:
    app.command()(stoppable(verb))


@app.callback(invoke_without_command=True)
def version(show: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False) -> None:
    if show:
        from mixfield import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line.  Bad input ends with one sentence and exit code 2."""
    from mixfield.errors import MixfieldError, sentence

    try:
        app()
    except (MixfieldError, OSError) as error:
        typer.echo(f"mixfield: {sentence(error)}", err=True)
        sys.exit(2)
