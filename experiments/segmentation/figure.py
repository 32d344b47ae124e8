"""The figure ``segmentation.svg``: gains over the number of segmentations, one panel per selection and network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.curves import Curve, Panel, write_curves
from experiments.segmentation.claims import NAMES
from experiments.segmentation.gains import COUNTS


def write_figure(parts: dict[str, Any], out: Path) -> None:
    """Write ``segmentation.svg`` and ``segmentation.png``."""
    panels = [_panel(NAMES[net], name, methods) for name, part in parts.items() for net, methods in part.items()]
    for suffix in ("svg", "png"):
        write_curves(out / f"segmentation.{suffix}", panels, columns=len(NAMES), shared_legend=True)


def _panel(network: str, part: str, methods: dict[str, Any]) -> Panel:
    ours = methods["ours"]
    curves = [
        Curve(name, COUNTS[: len(method["mean"])], method["mean"], method["interval"] if name == "ours" else ())
        for name, method in _curves(methods).items()
        if method["images"] == ours["images"]
    ]
    return Panel(
        f"{network}, {ours['images']} images\n{part}",
        "segmentations K",
        "points of mean IoU over mean field",
        curves,
        log_x=True,
        ticks=COUNTS[: len(ours["mean"])],
    )


def _curves(methods: dict[str, Any]) -> dict[str, Any]:
    """The methods by the names of their curves; only the best strength of DivMBest and of noise, without its number."""
    tuned = {name: name.split()[0] for name in methods["tuned"]}
    families = tuple(tuned.values())
    return {
        tuned.get(name, name): method
        for name, method in methods.items()
        if name != "tuned" and (name in tuned or not name.startswith(families))
    }
