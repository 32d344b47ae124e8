"""Pictures of the page on still images: what the modes find and mean field has lost."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.annotated import Annotated
from experiments.measured import Row
from experiments.segmentation_summary import gain
from mixfield.errors import MixfieldWarning
from mixfield.io.images import pascal_palette
from mixfield.metrics.segmentation import mean_iou
from mixfield.mixture.tree import infer
from mixfield.reports.panels import Panel, compose


def write_pictures(data: Path, rows: Sequence[Row], out: Path, *, net: str, count: int) -> list[Path]:
    """Of each set the image on which the best mode gains most: truth, mean field, best mode, as colours of labels.

    The image is chosen by the measurements of all sizes and shown at full resolution.
    """
    written = []
    for kind in dict.fromkeys(row["set"] for row in rows):
        mine = [row for row in rows if (row["net"], row["set"], row["method"]) == (net, kind, "ours")]
        best = max(mine, key=lambda row: gain(row, count))
        path = out / f"segmentation-{kind}.png"
        _write(path, Annotated(data / "segmentation" / kind, best["net"]), best["image"], count)
        written.append(path)
    return written


def _write(path: Path, source: Annotated, name: str, count: int) -> None:
    example = source.load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixfieldWarning)
        posterior = infer(example.energy(), count)
    labelings = posterior.labelings()
    scores = [100 * mean_iou(example.truth, labels, source.n_labels) for labels in labelings]
    best = int(np.argmax(scores))
    panels = [
        Panel("truth", f"{source.folder.name} {name}", _coloured(example.truth)),
        Panel("mean field", f"mean IoU {scores[posterior.plain]:.1f}", _coloured(labelings[posterior.plain])),
        Panel("best mode", f"mean IoU {scores[best]:.1f}", _coloured(labelings[best])),
    ]
    compose(panels, columns=len(panels)).save(path, format="PNG", optimize=True)


def _coloured(labels: NDArray[np.int64]) -> NDArray[np.uint8]:
    return np.asarray(pascal_palette()[labels])
