"""``mixfield annotate``: a local page on which a person segments the images of a folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mixfield.cli.options import Json, check_folder
from mixfield.cli.terminal import say

if TYPE_CHECKING:
    from mixfield.annotate.folder import AnnotationFolder


def annotate(
    images: Annotated[Path, typer.Argument(help="A folder of images.")],
    labels: Annotated[
        list[Path], typer.Option(help="Names of the labels, one a line, background first; may be repeated.")
    ],
    scores: Annotated[
        Path | None, typer.Option(help="Folder of probabilities (.npy, .npz) or masks (.png) to start from.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the annotations.  [default: annotations in the folder of images]")
    ] = None,
    export: Annotated[
        list[str] | None,
        typer.Option(help="Write png, coco, label-studio or stack files of what is annotated, and exit."),
    ] = None,
    logits: Annotated[bool, typer.Option("--logits", help="The scores are logits or log-probabilities.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Of the server.  [default: a free one]")] = 0,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")] = True,
    as_json: Json = False,
) -> None:
    """Segment the images of a folder by strokes, clicks, choices and answers, on a page that only this machine sees.

    Everything is saved after every action; the same command goes on where it was stopped.
    """
    from mixfield.annotate.folder import AnnotationFolder
    from mixfield.io.images import pillow
    from mixfield.io.names import read_names

    pillow()
    saved = out or images / "annotations"
    check_folder(saved)
    folders = [AnnotationFolder(images, read_names(file), saved / file.stem, scores, logits=logits) for file in labels]
    titles = [file.stem for file in labels]
    _check_titles(titles)
    if export:
        _export(folders, export, as_json=as_json)
    else:
        _serve(folders, titles, port=port, show=show, as_json=as_json)


def _check_titles(titles: Sequence[str]) -> None:
    from mixfield.errors import MixfieldError

    if len(set(titles)) < len(titles):
        raise MixfieldError(f"--labels must be files of different names, got {', '.join(titles)}")


def _export(folders: Sequence[AnnotationFolder], formats: Sequence[str], *, as_json: bool) -> None:
    from mixfield.annotate.exports import write_export

    written = [
        str(path) for folder in folders for kind in formats for path in write_export(folder, kind, folder.saved / kind)
    ]
    if as_json:
        typer.echo(json.dumps({"written": written}))
    else:
        say(f"wrote {len(written)} files", *written)


def _serve(folders: Sequence[AnnotationFolder], titles: Sequence[str], *, port: int, show: bool, as_json: bool) -> None:
    from mixfield.annotate.serving import serve
    from mixfield.reports.page import number_of

    count = len(folders[0].sources)

    def ready(address: str) -> None:
        if as_json:
            typer.echo(json.dumps({"address": address, "images": count}))
        else:
            say(f"{number_of(count, 'image')}: open {address}", "stop with Ctrl-C; everything is saved")
        if show:
            import webbrowser

            webbrowser.open(address)

    try:
        serve(folders, titles, port=port, ready=ready)
    except KeyboardInterrupt:
        if not as_json:
            say(f"stopped; the annotations are in {folders[0].saved.parent}")
