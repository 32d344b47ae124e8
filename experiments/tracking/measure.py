"""One method on one sequence: MODA, and the quality of its tracks."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.measurements import Row
from experiments.people.moda import Detections, moda_curve
from experiments.tracking.sources import Source, TrackingProblem
from mixfield import Tracks, metrics, track
from mixfield.mixture import MixturePosterior
from mixfield.temporal import printed_price

RADIUS = 1.0  # metres at which the oracle chooses, mistakes are counted and identities are matched
MEAN_FIELD, BEST_MODE = "mean field", "best mode"
KSP, KSP_STAR = "mean field + KSP", "modes + KSP*"
ORACLE_KSP = "oracle's modes + KSP"
PRINTED = "modes + KSP*, printed price"
TRACKED: dict[str, dict[str, Any]] = {  # options of `track`
    KSP: {},
    KSP_STAR: {},
    PRINTED: {"price": printed_price},
    f"{PRINTED}, clipped": {"price": printed_price, "clip": 0.01},
    ORACLE_KSP: {},
}
METHODS = (MEAN_FIELD, BEST_MODE, *TRACKED)


def tasks(sources: Sequence[Source]) -> dict[str, tuple[Source, str]]:
    """Name and values of every measurement; names are those of files."""
    return {
        f"{k} {method.replace('*', ' star')}": (source, method)
        for k, source in enumerate(sources)
        for method in METHODS
    }


def measure(source: Source, method: str) -> Row:
    """MODA of one method at each threshold, with bootstrap intervals; and a summary of its tracks."""
    problem = source.load()
    row: Row = {"source": source.name, "way": method}
    if method == MEAN_FIELD:
        return row | {"curve": moda_curve(problem.truth, [problem.detections(problem.single())])}
    if method == BEST_MODE:
        return row | {"curve": moda_curve(problem.truth, problem.detections_by_mode())}
    return row | _track(problem, method)


def _track(problem: TrackingProblem, method: str) -> Row:
    posteriors = _posteriors(problem, method)
    started = time.perf_counter()
    tracks = track(posteriors, problem.ground, **problem.options, **TRACKED[method])
    summary = tracks.summary() | {"seconds": time.perf_counter() - started, "violations": len(tracks.violations())}
    positions = _positions(problem, tracks)
    scores = metrics.detection_scores(problem.truth, positions, RADIUS)
    return {
        "curve": moda_curve(problem.truth, [positions]),
        "tracks": summary | _identity_scores(problem, tracks),
        "modes": tracks.chosen_modes.tolist(),
        "mistakes": [score.misses + score.false_positives for score in scores],
    }


def _posteriors(problem: TrackingProblem, method: str) -> Sequence[MixturePosterior]:
    """The modes among which a method chooses."""
    if method == KSP:
        return problem.single()
    return _oracle(problem) if method == ORACLE_KSP else problem.posteriors


def _oracle(problem: TrackingProblem) -> list[MixturePosterior]:
    """The mode with fewest mistakes in each frame, the first of several."""
    scores = [metrics.detection_scores(problem.truth, found, RADIUS) for found in problem.detections_by_mode()]
    best = [int(np.argmin([s.misses + s.false_positives for s in frame])) for frame in zip(*scores, strict=True)]
    return [MixturePosterior((p.modes[k],)) for p, k in zip(problem.posteriors, best, strict=True)]


def _records(problem: TrackingProblem, tracks: Tracks) -> NDArray[np.void]:
    """The records of the tracks in cells that count."""
    return tracks.table[problem.counted[tracks.table["row"], tracks.table["column"]]]


def _positions(problem: TrackingProblem, tracks: Tracks) -> Detections:
    rows = _records(problem, tracks)
    positions = np.stack([rows["x"], rows["y"]], axis=-1)
    return {t: positions[rows["frame"] == t] for t in range(tracks.frames)}


def _identity_scores(problem: TrackingProblem, tracks: Tracks) -> dict[str, Any]:
    """IDF1 and identity switches by motmetrics; nothing if it is not installed."""
    try:
        import motmetrics
    except ImportError:
        return {}
    rows = _records(problem, tracks)
    accumulator = motmetrics.MOTAccumulator(auto_id=True)
    for t, positions in _positions(problem, tracks).items():
        distance = np.linalg.norm(np.asarray(problem.truth[t])[:, None] - positions[None], axis=-1)
        distance[distance > RADIUS] = np.nan
        accumulator.update(list(problem.identities[t]), rows["identity"][rows["frame"] == t].tolist(), distance)
    scores = motmetrics.metrics.create().compute(accumulator, metrics=["idf1", "num_switches"])
    return {"idf1": float(scores["idf1"].iloc[0]), "switches": int(scores["num_switches"].iloc[0])}
