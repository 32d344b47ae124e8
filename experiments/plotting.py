"""Figures of panels by Matplotlib, which are saved with the same bytes each time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mixfield.reports.notebook import pyplot

STYLE: dict[Any, Any] = {"svg.hashsalt": "mixfield", "svg.fonttype": "none", "font.size": 11, "axes.titlesize": 10.5}
DPI = 160


@contextmanager
def subplots(count: int, columns: int, size: tuple[float, float]) -> Iterator[tuple[Any, list[Any]]]:
    """A figure without a window and ``count`` axes in rows of ``columns``, each ``size`` inches wide and high."""
    plt = pyplot()
    plt.switch_backend("Agg")
    rows = -(-count // columns)
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(
            rows, columns, figsize=(size[0] * columns, size[1] * rows), squeeze=False, layout="constrained"
        )
        for unused in axes.ravel()[count:]:
            unused.remove()
        yield figure, list(axes.ravel()[:count])
        plt.close(figure)


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure as ``.svg`` or ``.png``, without the date."""
    figure.savefig(path, dpi=DPI, metadata={"Date": None} if path.suffix == ".svg" else None)
