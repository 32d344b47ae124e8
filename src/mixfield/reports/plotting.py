"""Matplotlib, where it is installed: pages of panels, saved so that the same figure gives the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mixfield.errors import MixfieldError

STYLE: dict[Any, Any] = {"svg.hashsalt": "mixfield", "svg.fonttype": "none", "font.size": 11, "axes.titlesize": 10.5}


@contextmanager
def subplots(count: int, columns: int, size: tuple[float, float]) -> Iterator[tuple[Any, list[Any]]]:
    """A figure and ``count`` axes in rows of ``columns``, each ``size`` inches wide and high."""
    try:
        import matplotlib
    except ImportError:
        raise MixfieldError("figures need matplotlib: pip install 'mixfield[plot]'") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = -(-count // columns)
    with matplotlib.rc_context(STYLE):
        figure, axes = pyplot.subplots(
            rows, columns, figsize=(size[0] * columns, size[1] * rows), squeeze=False, layout="constrained"
        )
        for unused in axes.ravel()[count:]:
            unused.remove()
        yield figure, list(axes.ravel()[:count])
        pyplot.close(figure)


def saved(figure: Any, path: Path) -> None:
    """Write a figure; the file name tells the format."""
    figure.savefig(path, dpi=160, metadata={"Date": None} if path.suffix == ".svg" else None)
