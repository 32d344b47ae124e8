"""The figure ``generic.svg``: median error over median time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.curves import Curve, Mark, Panel, write_curves
from experiments.generic.methods import EXACT, METHODS, PYAGRUM, RETURNS_MODES
from experiments.generic.summary import medians
from experiments.measurements import Row

COLOURS = dict(
    zip(METHODS, ("#d1495b", "#edae49", "#8d96a3", "#00798c", "#3b3b58", "#7a9e3f", "#9c6ade", "#c97b63"), strict=True)
)
MARKED = (PYAGRUM, EXACT)  # exact methods: only their time is drawn
ERRORS = {"log_z_error": "error of log Z (nats)", "marginal_error": "error of the marginals"}


def write_figure(models: Sequence[Row], out: Path) -> None:
    """Write ``generic.svg`` and ``generic.png``."""
    panels = [_panel(models, key, title) for key, title in ERRORS.items()]
    for suffix in ("svg", "png"):
        write_curves(out / f"generic.{suffix}", panels, shared_legend=True, size=(6.0, 4.6))


def _panel(models: Sequence[Row], key: str, title: str) -> Panel:
    found = medians(models, key)
    curves = [
        Curve(
            name,
            [point["seconds"] for point in points],
            [point["error"] for point in points],
            colour=COLOURS[name],
            marker="o" if name in RETURNS_MODES else "s",
        )
        for name, points in found.items()
        if name not in MARKED
    ]
    marks = [Mark(name, found[name][0]["seconds"], COLOURS[name]) for name in MARKED if name in found]
    return Panel(f"median of {len(models)} models", "seconds", title, curves, marks=marks, log_x=True, log_y=True)
