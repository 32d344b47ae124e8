"""Maps of probabilities in rows, as SVG or PNG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.plotting import save_figure, subplots


@dataclass(frozen=True, eq=False)
class Map:
    """Probabilities (H, W) with a title, a note below and a label on the left."""

    title: str
    values: NDArray[np.floating]
    note: str = ""
    side: str = ""


def write_maps(path: Path, maps: Sequence[Map], *, columns: int, label: str, size: float = 2.2) -> None:
    """Write maps of probabilities, black for 0 and white for 1.

    Parameters
    ----------
    path : ends in ``.svg`` or ``.png``.
    maps : left to right, then down, all of one shape.
    columns : maps in a row.
    label : of the color bar.
    size : width of a map in inches.
    """
    height, width = maps[0].values.shape
    with subplots(len(maps), columns, (size, size * height / width + 0.15)) as (figure, axes):
        for axis, panel in zip(axes, maps, strict=True):
            image = axis.imshow(panel.values, cmap="gray", vmin=0.0, vmax=1.0, interpolation="nearest")
            axis.set(title=panel.title, xlabel=panel.note, ylabel=panel.side, xticks=[], yticks=[])
        figure.colorbar(image, ax=axes, label=label, shrink=0.8, aspect=30, ticks=[0, 0.5, 1])
        save_figure(figure, path)
