"""``mixfield segment``: several weighted segmentations of images."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mixfield.cli import batching
from mixfield.cli.field_models import Model, field_options
from mixfield.cli.options import Json, Seed, Threads, check_folder
from mixfield.cli.segment_export import check_formats
from mixfield.cli.segment_images import SegmentImage, segment_folder, segment_image
from mixfield.cli.segment_large import is_large, segment_large_image


def segment(
    image: Annotated[Path, typer.Argument(help="An image, or a folder of images; a large one as .tif, .zarr, .npy.")],
    scores: Annotated[
        Path,
        typer.Option(help="Probabilities (.npy, .npz), a label map or strokes (.png); for a folder, a folder of them."),
    ],
    modes: Annotated[int, typer.Option(min=1, help="Largest number of segmentations.")] = 4,
    out: Annotated[
        Path,
        typer.Option(
            help="Folder for the results, or labels.tif, .zarr, .npy: block by block.  A stopped run goes on."
        ),
    ] = Path("mixfield-segment"),
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
    block: Annotated[int | None, typer.Option(help="Pixels of a block, a multiple of 16.  [default: 1536]")] = None,
    halo: Annotated[int | None, typer.Option(min=0, help="Pixels around a block.  [default: 3 bandwidths]")] = None,
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

    evidence = _given(logits=logits, certainty=certainty, unknown=unknown or None, n_labels=labels)
    work = SegmentImage(
        modes, field_options(model), evidence, seed, threads, () if names is None else read_names(names)
    )
    formats, chosen = export or [], batching.engine(engine, workers, scheduler)
    check_formats(formats)
    if is_large(out):
        segment_large_image(work, image, scores, out, block=block, halo=halo, engine=chosen, as_json=as_json)
        return
    pillow()
    check_folder(out)
    if image.is_dir():
        segment_folder(work, image, scores, out, formats, engine=chosen, as_json=as_json)
    else:
        segment_image(work, image, scores, out, formats, nats=nats, as_json=as_json)


def _given(**options: Any) -> dict[str, Any]:
    """The options that are not None."""
    return {name: value for name, value in options.items() if value is not None}
