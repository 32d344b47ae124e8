"""Results of ``mixfield segment`` for other tools: ``--export coco`` and ``--export panoptic``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mixfield import _files

if TYPE_CHECKING:
    from mixfield.io.coco import LabelledImage

FORMATS = ("coco", "panoptic")


def check_formats(formats: Sequence[str]) -> None:
    """Raise a `MixfieldError` for an unknown format."""
    from mixfield.errors import MixfieldError

    for name in formats:
        if name not in FORMATS:
            raise MixfieldError(f"--export must be one of {', '.join(FORMATS)}, got {name!r}")


def export(formats: Sequence[str], rows: Sequence[dict[str, Any]], out: Path) -> list[Path]:
    """Write results in other formats and return the files.

    Parameters
    ----------
    formats : of `FORMATS`.
    rows : facts of each image, with ``image`` and ``out``, its file and the folder of its results.
    out : folder of the files.
    """
    from mixfield.io import coco
    from mixfield.io.images import write_image
    from mixfield.io.names import first_names
    from mixfield.reports.segmentation import NAMES

    written = []
    images = [_labelled(row) for row in rows]
    names = first_names(Path(row["out"]) / NAMES for row in rows)
    if "coco" in formats:
        written.append(out / "coco.json")
        _files.write_text(written[-1], json.dumps(coco.coco_document(images, names)) + "\n")
    if "panoptic" in formats:
        (out / "panoptic").mkdir(exist_ok=True)
        for image in images:
            picture = coco.panoptic_pixels(image.labelings[0])
            write_image(out / "panoptic" / coco.panoptic_name(image), picture)
        written.append(out / "panoptic.json")
        _files.write_text(written[-1], json.dumps(coco.panoptic_document(images, names)) + "\n")
    return written


def _labelled(row: dict[str, Any]) -> LabelledImage:
    from mixfield.io.coco import LabelledImage
    from mixfield.io.images import read_label_map

    folder, count = Path(row["out"]), len(row["weights"])
    labelings = [read_label_map(folder / f"mode_{k}.png") for k in range(1, count + 1)]
    return LabelledImage(Path(row["image"]).name, labelings, row["weights"])
