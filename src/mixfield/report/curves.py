"""Curves with bands, several panels side by side, as SVG or PNG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mixfield.errors import MixfieldError

COLOURS = ("#d1495b", "#8d96a3", "#00798c", "#edae49")


@dataclass(frozen=True)
class Curve:
    """Points of one method, with an interval (low, high) around each."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    interval: Sequence[Sequence[float]]


@dataclass(frozen=True)
class Panel:
    """A set of curves with its title and axes."""

    title: str
    x_label: str
    y_label: str
    curves: Sequence[Curve]


def write_curves(path: Path, panels: Sequence[Panel]) -> None:
    """Write the figure; the file name tells the format, and the same curves give the same bytes."""
    try:
        import matplotlib
    except ImportError:
        raise MixfieldError("figures of curves need matplotlib: pip install 'mixfield[plot]'") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    with matplotlib.rc_context({"svg.hashsalt": "mixfield", "font.size": 11, "svg.fonttype": "none"}):
        figure, axes = pyplot.subplots(
            1, len(panels), figsize=(5.2 * len(panels), 4.2), squeeze=False, layout="constrained"
        )
        for axis, panel in zip(axes[0], panels, strict=True):
            for colour, curve in zip(COLOURS, panel.curves, strict=False):
                low, high = zip(*curve.interval, strict=True)
                axis.fill_between(curve.x, low, high, color=colour, alpha=0.15, linewidth=0)
                axis.plot(curve.x, curve.y, color=colour, marker="o", markersize=4, label=curve.name)
            axis.set(
                title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label, ylim=(min(0.0, axis.get_ylim()[0]), 1)
            )
            axis.grid(alpha=0.3)
            axis.legend(loc="lower right", frameon=False)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
        pyplot.close(figure)
