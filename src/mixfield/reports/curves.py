"""Curves with bands, several panels in rows, as SVG or PNG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mixfield.reports.plotting import saved, subplots

COLOURS = ("#d1495b", "#8d96a3", "#00798c", "#edae49", "#3b3b58", "#7a9e3f", "#9c6ade")


@dataclass(frozen=True)
class Curve:
    """Points of one method, with an interval (low, high) around each, or without."""

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
    colour: str = "#55555e"


@dataclass(frozen=True)
class Panel:
    """A set of curves with its title, axes and marks.

    ``top`` is the upper end of an axis that begins at zero, ``bottom`` the lower end of any; curves may leave there.
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
    """Write the figure; the file name tells the format, and the same curves give the same bytes.

    Parameters
    ----------
    path : ends in ``.svg`` or ``.png``.
    panels : left to right, then down.
    columns : panels in a row; all of them if not given.
    shared_legend : one below all panels instead of one in each.
    size : of a panel, in inches.
    legend : its place in each panel, in Matplotlib's words.
    """
    with subplots(len(panels), columns or len(panels), size) as (figure, axes):
        for axis, panel in zip(axes, panels, strict=True):
            _draw(axis, panel)
            if not shared_legend:
                axis.legend(loc=legend, frameon=False)
        if shared_legend:
            names: dict[str, Any] = {}
            for axis in axes:
                handles, labels = axis.get_legend_handles_labels()
                names |= dict(zip(labels, handles, strict=True))
            wide = max(1, int(size[0] * (columns or len(panels)) / 3.6))  # inches of a name, at most
            figure.legend(names.values(), names, loc="outside lower center", ncols=wide, frameon=False)
        saved(figure, path)


def _draw(axis: Any, panel: Panel) -> None:
    for k, curve in enumerate(panel.curves):
        colour = curve.colour or COLOURS[k % len(COLOURS)]
        if curve.interval:
            low, high = zip(*curve.interval, strict=True)
            axis.fill_between(curve.x, low, high, color=colour, alpha=0.15, linewidth=0)
        line = ("--" if curve.dashed else "-") if curve.joined else "none"
        axis.plot(curve.x, curve.y, color=colour, marker=curve.marker, markersize=4, linestyle=line, label=curve.name)
    if panel.log_x:
        axis.set_xscale("log")
    if panel.log_y:
        axis.set_yscale("log")
        _number(axis)
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


_MANY = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)


def _number(axis: Any) -> None:
    """Plain numbers along a logarithmic axis, more of them the shorter it is."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_ylim()
    steps = next(
        (steps for ratio, steps in ((4, _MANY), (12, (1, 2, 3, 5, 7)), (200, (1, 2, 5))) if high < ratio * low), (1,)
    )
    axis.yaxis.set_major_locator(LogLocator(subs=steps))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())
