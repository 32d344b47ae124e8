"""``mixfield report``: a saved result as one self-contained HTML file."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

import typer

from mixfield import _files
from mixfield.cli.options import Json, check_target, frame_slice
from mixfield.cli.terminal import Progress, say

PAGE, LARGE = "report.html", "large.json"
NOTHING_WRITTEN = "no page was written; give the same command again"


def report(
    result: Annotated[
        Path,
        typer.Argument(
            help="A posterior (.npz), or a folder of mixfield segment (also x.tif.blocks), detect or video."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="The page.  [default: report.html in a folder, x.html of x.npz]")
    ] = None,
    image: Annotated[Path | None, typer.Option(help="Segmentation: the image, if the folder lacks it.")] = None,
    scene: Annotated[Path | None, typer.Option(help="People: their scene.toml or .pom file.")] = None,
    tracks: Annotated[Path | None, typer.Option(help="People: their table of tracks (.csv).")] = None,
    frames: Annotated[str, typer.Option(help="Sequences: first:last or first:last:step.  [default: all]")] = "",
    title: Annotated[str | None, typer.Option(help="Heading.  [default: the name of the result]")] = None,
    as_json: Json = False,
) -> None:
    """Make one self-contained HTML page of a result: modes, where they differ, the tree of cuts, tracks.

    A folder of segmented images becomes a gallery, the most doubtful images first.
    """
    from mixfield.reports.results import report_page

    target = out or _beside(result)
    check_target(target)
    started = time.perf_counter()
    chosen = frame_slice(frames)
    with Progress("frames", None, quiet=as_json, stopped=NOTHING_WRITTEN) as advance:
        if (result / LARGE).is_file():
            from mixfield.large.page import write_large_page

            write_large_page(result, target, image=image, title=title)
        else:
            page = report_page(
                result, image=image, scene=scene, tracks=tracks, frames=chosen, title=title, progress=advance
            )
            _files.write_text(target, page)
    size, seconds = target.stat().st_size, time.perf_counter() - started
    if as_json:
        typer.echo(json.dumps({"report": str(target), "bytes": size, "seconds": seconds}))
    else:
        say(f"wrote {target}, {size / 1e6:.2f} MB: open it in a browser")


def _beside(result: Path) -> Path:
    """report.html in a folder or beside its result.npz or video.npz; the page of another file x.npz is x.html."""
    if result.is_dir():
        return result / PAGE
    return result.with_name(PAGE) if result.name in ("result.npz", "video.npz") else result.with_suffix(".html")
