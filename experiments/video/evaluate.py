"""Mean IoU of every method on every sequence, from the measurements of its frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from experiments.measurements import Row
from experiments.mode_ranking import LEARNT
from mixfield.apps import Consistency
from mixfield.metrics.segmentation import average
from mixfield.temporal.trellis import shortest_path

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST = 20.0  # nats, the largest cost of a mode of MaxW clamping


def evaluate(
    rows: Sequence[Row], *, coefficients: Sequence[float] = LEARNT, consistency: Consistency | None = None
) -> dict[str, dict[str, float]]:
    """Mean IoU in per cent by method, of every sequence and then of all sequences of a kind together."""
    consistency = consistency or Consistency()
    sequences: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        sequences.setdefault((row["kind"], row["sequence"]), []).append(row)
    found: dict[str, dict[str, float]] = {}
    totals: dict[str, dict[str, Any]] = {}
    for (kind, sequence), frames in sequences.items():
        counts = _counts(frames, coefficients, consistency)
        found[f"{kind} {sequence}"] = _mean_ious(counts)
        total = totals.setdefault(kind, {})
        for name, count in counts.items():
            total[name] = total.get(name, 0) + count
    return found | {kind: _mean_ious(counts) for kind, counts in totals.items()}


def _mean_ious(counts: dict[str, Ints]) -> dict[str, float]:
    return {name: 100 * average(count) for name, count in counts.items()}


def _counts(rows: Sequence[Row], coefficients: Sequence[float], consistency: Consistency) -> dict[str, Ints]:
    """Confusion counts over all frames of a sequence, by method."""
    by_weight = [np.minimum(-log_softmax(np.array(row["clamped"]["log_z"])), MOST) for row in rows]
    ranked = [_ranking_costs(row["modes"], coefficients, consistency) for row in rows]
    return {
        "mean field": np.sum([row["modes"]["counts"][row["modes"]["root"]] for row in rows], axis=0),
        "MaxW + temporal": _chosen(rows, "clamped", by_weight, consistency),
        "modes + temporal": _chosen(rows, "modes", ranked, consistency),
        "best mode": np.sum([max(row["modes"]["counts"], key=average) for row in rows], axis=0),
    }


def _ranking_costs(method: Row, coefficients: Sequence[float], consistency: Consistency) -> Floats:
    """(K,) costs of the modes of a frame: minus the logarithm of the ranking, and a cost of leaving mean field."""
    features = np.array(method["features"])
    is_alternative = np.arange(len(features)) != method["root"]
    return consistency.caution * is_alternative - log_softmax(features @ np.array(coefficients))


def _chosen(rows: Sequence[Row], name: str, costs: Sequence[Floats], consistency: Consistency) -> Ints:
    """Counts of the modes on the shortest path; a frame with too few matches starts a new path."""
    steps = [
        consistency.stiffness * np.array(row[name]["steps"]) if row["matched"] >= consistency.least else None
        for row in rows[1:]
    ]
    path = shortest_path(list(costs), steps)
    return np.sum([row[name]["counts"][k] for row, k in zip(rows, path, strict=True)], axis=0)
