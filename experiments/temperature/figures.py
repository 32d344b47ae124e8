"""The figures of the page: entropy over temperature, maps, and both sides of the fixed-point equation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments.curves import Curve, Mark, Panel, write_curves
from experiments.maps import Map, write_maps
from experiments.measurements import Row
from experiments.temperature import fixed_point
from experiments.temperature.claims import T_C
from experiments.temperature.models import GAMMA, SHOWN

TITLES = {"model 1": "distance", "model 2": "distance and colour", "model 3": "distance, colour and unaries"}
YELLOW, RED, BLUE, DARK, GREY = "#edae49", "#d1495b", "#00798c", "#3b3b58", "#8d96a3"
LOW_T, HIGH_T, UNARY = 2.5, 7.5, 4.0  # of the figure of the fixed-point equation


def write_figures(models: dict[str, Row], out: Path) -> None:
    """Write ``temperature``, ``temperature-tanh`` and ``temperature-maps`` as SVG and PNG."""
    maps = _maps(models)
    for suffix in ("svg", "png"):
        write_curves(out / f"temperature.{suffix}", _entropies(models), shared_legend=True)
        write_curves(out / f"temperature-tanh.{suffix}", _fixed_points(), shared_legend=True)
        write_maps(out / f"temperature-maps.{suffix}", maps, columns=len(SHOWN), label="probability of label 0")


def _entropies(models: dict[str, Row]) -> list[Panel]:
    return [
        Panel(
            f"{name}: {TITLES[name]}",
            "temperature",
            "entropy (bits)",
            _entropy_curves(name, model),
            top=1.03,
            marks=[Mark("Γ/2", T_C)],
        )
        for name, model in models.items()
    ]


def _entropy_curves(name: str, model: Row) -> list[Curve]:
    x = model["temperature"]
    curves = [
        Curve("highest decile", x, model["highest_decile"], colour=YELLOW),
        Curve("mean", x, model["mean"], colour=RED),
        Curve("lowest decile", x, model["lowest_decile"], colour=BLUE),
    ]
    if name == "model 1":
        predicted = [_predicted_bits(temperature) for temperature in x]
        curves.append(Curve("fixed-point equation", x, predicted, colour=DARK, dashed=True, marker=""))
    return curves


def _predicted_bits(temperature: float) -> float:
    """Entropy of the largest solution of the fixed-point equation without unaries."""
    q = 0.5 + fixed_point.solutions(GAMMA, 0.0, temperature)[-1]
    return float(sum(-p * np.log2(p) for p in (q, 1 - q) if p > 0))


def _fixed_points() -> list[Panel]:
    return [
        Panel(title, "q~ = q - 1/2", "½ tanh((Γ q~ - U/2) / T)", _both_sides(unary))
        for title, unary in (("without unaries", 0.0), (f"with unaries, U = {UNARY:g}", UNARY))
    ]


def _both_sides(unary: float) -> list[Curve]:
    grid = np.linspace(-0.5, 0.5, 201).tolist()
    curves = [Curve("q~", grid, grid, colour=GREY, marker="")]
    for name, temperature, colour in (("low", LOW_T, BLUE), ("high", HIGH_T, RED)):
        right = [fixed_point.right_hand_side(q, GAMMA, unary, temperature) for q in grid]
        solutions = fixed_point.solutions(GAMMA, unary, temperature)
        curves.append(Curve(f"{name} T = {temperature:g}", grid, right, colour=colour, marker=""))
        curves.append(Curve(f"solutions, {name} T", solutions, solutions, colour=colour, joined=False))
    return curves


def _maps(models: dict[str, Any]) -> list[Map]:
    """One row per model, one column per temperature."""
    return [
        Map(
            f"T = {temperature:g}" if name == "model 1" else "",
            np.array(model["maps"][f"{temperature:g}"]),
            side=name if temperature == SHOWN[0] else "",
        )
        for name, model in models.items()
        for temperature in SHOWN
    ]
