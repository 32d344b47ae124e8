"""MODA over the distance threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import metrics

Floats = NDArray[np.float64]
Detections = dict[int, Floats]  # (k, 2) positions of each frame

THRESHOLDS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)  # metres
ONE_METRE = THRESHOLDS.index(1.0)
THRESHOLD_HEADS = tuple(f"{threshold:g} m" for threshold in THRESHOLDS)


def moda_curve(truth: Mapping[int, Floats], candidates: Sequence[Detections]) -> list[dict[str, Any]]:
    """MODA at each threshold with bootstrap intervals; an oracle chooses the best of the candidates in each frame."""
    return [{"threshold": threshold, **_scores(truth, candidates, threshold)} for threshold in THRESHOLDS]


def _scores(truth: Mapping[int, Floats], candidates: Sequence[Detections], threshold: float) -> dict[str, Any]:
    frames = metrics.best_detections([metrics.detection_scores(truth, found, threshold) for found in candidates])
    total = metrics.total(frames)
    return {
        "moda": total.moda,
        "interval": list(metrics.bootstrap(frames)),
        "modp": total.modp,
        "misses": total.misses,
        "false_positives": total.false_positives,
        "truths": total.truths,
    }
