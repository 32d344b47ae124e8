"""The gains of DivMBest on the same images, for comparison, with every strength."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.annotated import AnnotatedFolder, Network
from experiments.belief import modes
from experiments.measurements import Row, Tasks
from experiments.quiet import ignore_warnings
from experiments.segmentation.methods import SOLVER
from mixfield.baselines.diverse import div_m_best
from mixfield.metrics.segmentation import mean_iou

STRENGTHS = (0.25, 0.5, 1.0, 2.0)
BEST = (0.5, 1.0)  # of these; the others are measured on half of the images
ROUNDS = 4  # every fourth image first, so that an interrupted run covers all sets evenly

Gains = NDArray[np.float64]


def tasks(data: Path, *, step: int, every: int) -> Tasks:
    """Arguments of `measure` for every image of every set and network."""
    places = list(modes.tasks(data, data, step=step, every=every).items())
    return {
        name: (data, network, subset, image, step, STRENGTHS if first < ROUNDS // 2 else BEST)
        for first in range(ROUNDS)
        for name, (_, _, network, subset, image, _) in places[first::ROUNDS]
    }


def measure(data: Path, network: Network, subset: str, name: str, step: int, strengths: Sequence[float]) -> Row:
    """Mean IoU of the solutions of DivMBest with each of the strengths, the first of which is mean field."""
    example = AnnotatedFolder(data / "segmentation" / subset, network).load(name).reduced(step)
    energy = example.energy()
    with ignore_warnings():
        found = {f"{one:g}": div_m_best(energy, modes.MODES, strength=one, solver=SOLVER) for one in strengths}
    ious = {
        strength: [round(100 * mean_iou([example.truth], [mode.labeling()]), 3) for mode in solutions]
        for strength, solutions in found.items()
    }
    return {"network": network, "set": subset, "image": name, "step": step, "ious": ious}


def gains(rows: Sequence[Row]) -> dict[str, Gains]:
    """For each strength the gain of the best of eight over mean field, of each image that it was measured on."""
    found: dict[str, list[float]] = {}
    for row in rows:
        for strength, ious in row["ious"].items():
            found.setdefault(strength, []).append(max(ious) - ious[0])
    return {strength: np.array(values) for strength, values in found.items()}


def best_strength(rows: Sequence[Row]) -> str:
    """The strength that gains most on average, of those that were measured on all images."""
    found = gains(rows)
    complete = [strength for strength, values in found.items() if len(values) == len(rows)]
    return max(complete, key=lambda strength: float(found[strength].mean()))
