"""Pictures of the page: true labels, mean field and the best mode."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.annotated import AnnotatedFolder
from experiments.measurements import Row
from experiments.quiet import ignore_warnings
from experiments.segmentation.gains import gain
from mixfield.io.images import pascal_palette
from mixfield.metrics import mean_iou
from mixfield.mixture import infer
from mixfield.reports.panels import Panel, compose


def write_pictures(data: Path, rows: Sequence[Row], out: Path, *, net: str, count: int) -> list[str]:
    """For each set, write a picture of the image on which the best mode gains most; returns the file names.

    The image is chosen among the measurements of all sizes and shown at full resolution.
    """
    out.mkdir(parents=True, exist_ok=True)
    names = []
    for name in dict.fromkeys(row["set"] for row in rows):
        ours = [row for row in rows if (row["net"], row["set"], row["method"]) == (net, name, "ours")]
        best = max(ours, key=lambda row: gain(row, count))
        names.append(f"segmentation-{name}.png")
        _write(out / names[-1], AnnotatedFolder(data / "segmentation" / name, best["net"]), best["image"], count)
    return names


def _write(path: Path, source: AnnotatedFolder, name: str, count: int) -> None:
    example = source.load(name)
    with ignore_warnings():
        posterior = infer(example.energy(), count)
    labelings, root = posterior.labelings(), posterior.root_mode
    scores = [100 * mean_iou(example.truth, labels, source.n_labels) for labels in labelings]
    best = int(np.argmax(scores))
    panels = [
        Panel("truth", f"{source.folder.name} {name}", _colours(example.truth)),
        Panel("mean field", f"mean IoU {scores[root]:.1f}", _colours(labelings[root])),
        Panel("best mode", f"mean IoU {scores[best]:.1f}", _colours(labelings[best])),
    ]
    compose(panels, columns=len(panels)).save(path, format="PNG", optimize=True)


def _colours(labels: NDArray[np.int64]) -> NDArray[np.uint8]:
    return np.asarray(pascal_palette()[labels])
