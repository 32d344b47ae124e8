"""Photographs with human strokes and true masks of one object (the GrabCut set)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.errors import MixfieldError
from mixfield.io import read_image, read_label_map

Labels = NDArray[np.int64]

STROKE_SETS = ("sparse", "rich")
BACKGROUND, OBJECT, UNKNOWN, VOID = 0, 1, -1, 255


@dataclass(frozen=True, eq=False)
class StrokedPhoto:
    """A photograph of one object.

    Attributes
    ----------
    image : (H, W, 3) colours.
    truth : (H, W) labels, `VOID` where they do not count.
    strokes : (H, W) labels, `UNKNOWN` elsewhere, by the name of the set.
    scores : (H, W, 2) probabilities of a network, None where there are none.
    """

    name: str
    image: NDArray[Any]
    truth: Labels
    strokes: dict[str, Labels]
    scores: NDArray[np.float32] | None = None


def photo_names(data: Path) -> list[str]:
    """Names of the photographs."""
    folder = data / "interactive" / "img"
    names = sorted(path.stem for path in folder.glob("*.jpg"))
    if not names:
        raise MixfieldError(f"no photographs in {folder}; give the folder of the public data with --data")
    return names


def read_photo(data: Path, name: str) -> StrokedPhoto:
    """Read one photograph; stroke files have 1 for the object, 2 for background, 0 elsewhere."""
    folder = data / "interactive"
    mask = np.asarray(read_label_map(folder / "gt" / f"{name}.png"), np.int64)
    truth = np.select([mask == 0, mask == 255], [BACKGROUND, OBJECT], VOID)
    strokes = {
        kind: np.array([UNKNOWN, OBJECT, BACKGROUND])[read_label_map(folder / f"scribbles_{kind}" / f"{name}.png")]
        for kind in STROKE_SETS
    }
    return StrokedPhoto(name, read_image(folder / "img" / f"{name}.jpg")[..., :3], truth, strokes)


def object_iou(labels: NDArray[Any], truth: Labels) -> float:
    """Intersection over union of the object, void pixels left out; 1 where neither has it."""
    found, wanted = (labels == OBJECT) & (truth != VOID), truth == OBJECT
    union = int((found | wanted).sum())
    return float((found & wanted).sum() / union) if union else 1.0
