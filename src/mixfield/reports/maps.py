"""Maps of probabilities in rows, as SVG or PNG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mixfield.reports.plotting import saved, subplots


@dataclass(frozen=True, eq=False)
class Map:
    """Probabilities (H, W), with a title and a line below, perhaps a line on the left."""

    title: str
    values: NDArray[np.floating]
    note: str = ""
    side: str = ""


def write_maps(path: Path, maps: Sequence[Map], *, columns: int, label: str, size: float = 2.2) -> None:
    """Write the figure, black for 0 and white for 1, with a scale named ``label``; the file name tells the format."""
    height, width = maps[0].values.shape
    with subplots(len(maps), columns, (size, size * height / width + 0.15)) as (figure, axes):
        for axis, one in zip(axes, maps, strict=True):
            drawn = axis.imshow(one.values, cmap="gray", vmin=0.0, vmax=1.0, interpolation="nearest")
            axis.set(title=one.title, xlabel=one.note, ylabel=one.side, xticks=[], yticks=[])
        figure.colorbar(drawn, ax=axes, label=label, shrink=0.8, aspect=30, ticks=[0, 0.5, 1])
        saved(figure, path)
