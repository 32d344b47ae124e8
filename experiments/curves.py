"""Curves with intervals, several panels in rows, as SVG or PNG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.plotting import save_figure, subplots
from mixfield.reports.palette import GREY, hex_color

CURVES = ("#d1495b", "#8d96a3", "#00798c", "#edae49", "#3b3b58", "#7a9e3f", "#9c6ade")
LEGEND_ENTRY = 3.6  # inches, at most
TICKS = (  # of a logarithmic axis: largest ratio of its ends, and the multiples of powers of ten that are labelled
    (4, (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)),
    (12, (1, 2, 3, 5, 7)),
    (200, (1, 2, 5)),
    (float("inf"), (1,)),
)


@dataclass(frozen=True)
class Curve:
    """Points of a curve; ``interval`` holds (low, high) around each, or nothing."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    interval: Sequence[Sequence[float]] = ()
    colour: str | None = None
    dashed: bool = False
    joined: bool = True
    marker: str = "o"


@dataclass(frozen=True)
class Mark:
    """A vertical line with a name."""

    name: str
    x: float
    colour: str = hex_color(GREY)


@dataclass(frozen=True)
class Panel:
    """Curves with title, axis labels and marks.

    Attributes
    ----------
    top : upper end of the y axis, which then begins at zero or below; may be None.
    bottom : lower end of the y axis; may be None.
    ticks : labelled x values.
    """

    title: str
    x_label: str
    y_label: str
    curves: Sequence[Curve]
    top: float | None = None
    bottom: float | None = None
    marks: Sequence[Mark] = ()
    log_x: bool = False
    log_y: bool = False
    ticks: Sequence[float] = ()


def write_curves(
    path: Path,
    panels: Sequence[Panel],
    *,
    columns: int | None = None,
    shared_legend: bool = False,
    size: tuple[float, float] = (5.2, 4.2),
    legend: str = "lower right",
) -> None:
    """Write a figure of curves; the same curves give the same bytes.

    Parameters
    ----------
    path : ends in ``.svg`` or ``.png``.
    panels : left to right, then down.
    columns : panels in a row; all of them by default.
    shared_legend : one below all panels instead of one in each.
    size : of a panel, in inches.
    legend : location in each panel, as Matplotlib names it.
    """
    per_row = columns or len(panels)
    with subplots(len(panels), per_row, size) as (figure, axes):
        for axis, panel in zip(axes, panels, strict=True):
            _draw(axis, panel)
            if not shared_legend:
                axis.legend(loc=legend, frameon=False)
        if shared_legend:
            _draw_shared_legend(figure, axes, max(1, int(size[0] * per_row / LEGEND_ENTRY)))
        save_figure(figure, path)


def _draw_shared_legend(figure: Any, axes: Sequence[Any], columns: int) -> None:
    entries: dict[str, Any] = {}
    for axis in axes:
        handles, labels = axis.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    figure.legend(entries.values(), entries, loc="outside lower center", ncols=columns, frameon=False)


def _draw(axis: Any, panel: Panel) -> None:
    for k, curve in enumerate(panel.curves):
        _draw_curve(axis, curve, curve.colour or CURVES[k % len(CURVES)])
    if panel.log_x:
        axis.set_xscale("log")
    if panel.log_y:
        axis.set_yscale("log")
        _label_log_axis(axis)
    if panel.ticks:
        axis.set_xticks(panel.ticks, labels=[f"{tick:g}" for tick in panel.ticks])
        axis.minorticks_off()
    axis.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
    if panel.top is not None:
        axis.set_ylim(min(0.0, axis.get_ylim()[0]), panel.top)
    if panel.bottom is not None:
        axis.set_ylim(bottom=panel.bottom)
    for mark in panel.marks:
        axis.axvline(mark.x, color=mark.colour, linestyle=":", linewidth=1.5, label=mark.name)
    axis.grid(alpha=0.3)


def _draw_curve(axis: Any, curve: Curve, color: str) -> None:
    if curve.interval:
        low, high = zip(*curve.interval, strict=True)
        axis.fill_between(curve.x, low, high, color=color, alpha=0.15, linewidth=0)
    line = ("--" if curve.dashed else "-") if curve.joined else "none"
    axis.plot(curve.x, curve.y, color=color, marker=curve.marker, markersize=4, linestyle=line, label=curve.name)


def _label_log_axis(axis: Any) -> None:
    """Decimal numbers along a logarithmic y axis, the more the fewer decades it covers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_ylim()
    multiples = next(multiples for ratio, multiples in TICKS if high < ratio * low)
    axis.yaxis.set_major_locator(LogLocator(subs=multiples))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())
