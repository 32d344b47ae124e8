"""Annotations in progress: the answer after some clicks, and the alternatives that are offered then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments.interactive.annotator import Click, PerfectAnnotator
from experiments.interactive.methods import Mixture
from experiments.interactive.photographs import OBJECT, StrokedPhoto, object_iou, read_photo
from experiments.plotting import subplots
from experiments.quiet import ignore_warnings

SHOWN = (("153077", 1), ("181079", 2), ("37073", 3))  # photographs and numbers of clicks
ALTERNATIVES = 3
DPI = 60  # the figure is committed
COLUMNS = 1 + ALTERNATIVES


def draw(data: Path, path: Path) -> None:
    """Write the figure."""
    with subplots(COLUMNS * len(SHOWN), COLUMNS, (3.0, 2.1)) as (figure, axes), ignore_warnings():
        for row, (name, count) in enumerate(SHOWN):
            _draw_photo(read_photo(data, name), count, axes[COLUMNS * row : COLUMNS * (row + 1)])
        figure.savefig(path, dpi=DPI)


def _draw_photo(photo: StrokedPhoto, count: int, axes: list[Any]) -> None:
    tool, labels = Mixture(photo), None
    clicks: list[Click] = []
    for _ in range(count):
        click = PerfectAnnotator().next_click(labels, photo.truth)
        if click is not None:
            labels = tool.click(click)
            clicks.append(click)
    suggestions = tool.annotation.suggest()[:COLUMNS]
    for k, (axis, one) in enumerate(zip(axes, suggestions, strict=False)):
        _draw_labels(axis, photo.image, one.labels)
        title = f"after click {count}" if k == 0 else f"alternative {k}"
        axis.set_title(f"{title}: p {one.weight:.2f}, IoU {object_iou(one.labels, photo.truth):.2f}", fontsize=9)
    for click in clicks:
        axes[0].plot(click.column, click.row, "o", color="lime" if click.label == OBJECT else "red", mec="black")
    for axis in axes:
        axis.set_axis_off()


def _draw_labels(axis: Any, image: Any, labels: Any) -> None:
    dimmed = np.where((labels == OBJECT)[..., None], image, image // 3)
    axis.imshow(dimmed)
    axis.contour(labels, levels=[0.5], colors="yellow", linewidths=0.8)
