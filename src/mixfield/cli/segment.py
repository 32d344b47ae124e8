"""``mixfield segment``: several weighted segmentations of images."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mixfield.cli import batching
from mixfield.cli.field_models import Model, field_options
from mixfield.cli.options import Json, Seed, Threads, check_folder
from mixfield.cli.segment_export import check_formats
from mixfield.cli.segment_images import SegmentImage, segment_folder, segment_image


def segment(
    image: Annotated[Path, typer.Argument(help="An image, or a folder of images.")],
    scores: Annotated[
        Path,
        typer.Option(help="Probabilities (.npy, .npz), a label map or strokes (.png); for a folder, a folder of them."),
    ],
    modes: Annotated[int, typer.Option(min=1, help="How many segmentations to look for.")] = 4,
    out: Annotated[Path, typer.Option(help="Folder for the results; a stopped run goes on there.")] = Path(
        "mixfield-segment"
    ),
    model: Model = "",
    logits: Annotated[bool, typer.Option("--logits", help="The scores are logits or log-probabilities.")] = False,
    certainty: Annotated[
        float | None, typer.Option(help="Probability that a label map is right.  [default: 0.9; strokes 0.99]")
    ] = None,
    unknown: Annotated[list[int] | None, typer.Option(help="Unknown in a label map.  [default: -1 and 255]")] = None,
    labels: Annotated[
        int | None, typer.Option(min=1, help="Labels of a label map.  [default: as many as seen]")
    ] = None,
    names: Annotated[
        Path | None, typer.Option(help="Names of the labels, one a line.  [default: those in a .npz of scores]")
    ] = None,
    export: Annotated[
        list[str] | None, typer.Option(help="Write coco (RLE, JSON) or panoptic (PNG, JSON) too; may be repeated.")
    ] = None,
    nats: Annotated[
        bool, typer.Option("--nats", help="Print the bounds of the modes and the weights of the energy too.")
    ] = False,
    seed: Seed = 0,
    threads: Threads = None,
    engine: batching.Engine = "",
    workers: batching.Workers = None,
    scheduler: batching.Scheduler = "",
    as_json: Json = False,
) -> None:
    """Segment an image, or a folder of images, in several ways, each with its probability."""
    from mixfield.io.images import pillow
    from mixfield.io.names import read_names

    pillow()
    check_folder(out)
    options = {"logits": logits, "certainty": certainty, "unknown": unknown or None, "n_labels": labels}
    evidence = {name: value for name, value in options.items() if value is not None}
    work = SegmentImage(
        modes, field_options(model), evidence, seed, threads, () if names is None else read_names(names)
    )
    formats = export or []
    check_formats(formats)
    chosen = batching.engine(engine, workers, scheduler)
    if image.is_dir():
        segment_folder(work, image, scores, out, formats, engine=chosen, as_json=as_json)
    else:
        segment_image(work, image, scores, out, formats, nats=nats, as_json=as_json)
