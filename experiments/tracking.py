"""People through time (section 7.2 of the paper): MODA over the distance threshold with and without tracks.

Mean field and the oracle's best mode, frame by frame; KSP on mean field, KSP* on the modes, with the posterior price
and with the printed one; and KSP on the modes that the oracle chooses, as a ceiling.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.measured import Row
from experiments.people import Floats, Found, mean_fields, moda_curve
from experiments.pets import Pets
from mixfield import metrics
from mixfield.apps.tracking import Tracks, track
from mixfield.datasets.doubts import doubtful_walk
from mixfield.io.detection_run import DetectionRun
from mixfield.mixture.posterior import MixturePosterior
from mixfield.scene.ground import Ground
from mixfield.temporal.costs import printed_price
from mixfield.temporal.windows import Windows

ORACLE = 1.0  # metres at which the oracle of the ceiling chooses, and mistakes are counted
WINDOWS, SECONDS = Windows(50, 15), 20.0  # how a recording is cut, and the time for each window
CEILING = "oracle's modes + KSP"
PRINTED = "modes + KSP*, printed price"
TRACKED: dict[str, dict[str, Any]] = {
    "mean field + KSP": {},
    "modes + KSP*": {},
    PRINTED: {"price": printed_price},
    f"{PRINTED}, clipped": {"price": printed_price, "clip": 0.01},
    CEILING: {},
}
WAYS = ("mean field", "best mode", *TRACKED)


@dataclass(frozen=True, eq=False)
class Sight:
    """What the ways are compared on.

    Attributes
    ----------
    posteriors : one per frame, 0, 1, 2, ...
    single : makes the mean fields, one mode per frame.
    ground : what they are about.
    truth, identities : (k, 2) true positions of each frame, and whose they are.
    inside : (rows, columns) cells that count.
    options : of `track`.
    """

    posteriors: Sequence[MixturePosterior]
    single: Callable[[], Sequence[MixturePosterior]]
    ground: Ground
    truth: Mapping[int, Floats]
    identities: Mapping[int, Sequence[int]]
    inside: NDArray[np.bool_]
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Recorded:
    """The first frames of a recording, whose posteriors are in a folder."""

    recording: Pets
    frames: int
    folder: Path

    @property
    def name(self) -> str:
        return f"PETS 2009 S2.L1, view {' and '.join(map(str, self.recording.views))}, {self.frames} frames"

    def sight(self) -> Sight:
        frames, scene = range(self.frames), self.recording.scene()
        people = self.recording.people(frames)
        return Sight(
            list(DetectionRun(self.folder, scene).load(frames).values()),
            lambda: [MixturePosterior((mode,)) for mode in mean_fields(self.recording, frames).values()],
            scene.ground,
            {frame: feet for frame, (_, feet) in people.items()},
            {frame: names.tolist() for frame, (names, _) in people.items()},
            scene.interest,
            {"frame_rate": self.recording.frame_rate, "windows": WINDOWS, "time_limit": SECONDS},
        )


@dataclass(frozen=True)
class Walked:
    """A seeded walk with doubts."""

    seed: int
    frames: int = 80

    @property
    def name(self) -> str:
        return "Walks with doubts"

    def sight(self) -> Sight:
        walk = doubtful_walk(self.frames, rng=self.seed)
        rows = [walk.truth[walk.truth["frame"] == t] for t in range(self.frames)]
        return Sight(
            walk.posteriors,
            lambda: [MixturePosterior(posterior.modes[:1]) for posterior in walk.posteriors],
            walk.ground,
            {t: np.stack([r["x"], r["y"]], axis=-1) for t, r in enumerate(rows)},
            {t: r["identity"].tolist() for t, r in enumerate(rows)},
            np.ones(walk.ground.shape, bool),
        )


def tasks(sources: Sequence[Recorded | Walked]) -> dict[str, tuple[Recorded | Walked, str]]:
    """Every way on every source, by names that can be those of files."""
    return {f"{k} {way.replace('*', ' star')}": (source, way) for k, source in enumerate(sources) for way in WAYS}


def measure(source: Recorded | Walked, way: str) -> Row:
    """MODA of one way at each threshold, with bootstrap intervals, and how its tracks came about."""
    sight = source.sight()
    row: Row = {"source": source.name, "way": way}
    if way not in TRACKED:
        candidates = [_detections(sight, sight.single())] if way == "mean field" else _modes(sight)
        return row | {"curve": moda_curve(sight.truth, candidates)}
    given = _given(sight, way)
    started = time.perf_counter()
    tracks = track(given, sight.ground, **sight.options, **TRACKED[way])
    told = tracks.summary() | {"seconds": time.perf_counter() - started, "violations": len(tracks.violations())}
    told |= _identity_scores(sight, tracks)
    found = _positions(sight, tracks)
    frames = metrics.detection_scores(sight.truth, found, ORACLE)
    per_frame = {"modes": tracks.chosen_modes.tolist(), "mistakes": [s.misses + s.false_positives for s in frames]}
    return row | {"curve": moda_curve(sight.truth, [found]), "tracks": told} | per_frame


def _given(sight: Sight, way: str) -> Sequence[MixturePosterior]:
    """What is tracked."""
    if way == "mean field + KSP":
        return sight.single()
    return _ceiling(sight) if way == CEILING else sight.posteriors


def _detections(sight: Sight, posteriors: Sequence[MixturePosterior], k: int = 0) -> Found:
    """Cells above one half in the k-th mode of each frame, the last one where there are fewer."""
    chosen = [p.modes[min(k, len(p.modes) - 1)].marginals[..., 1] for p in posteriors]
    return {t: sight.ground.centres()[(q > 0.5) & sight.inside] for t, q in enumerate(chosen)}


def _modes(sight: Sight) -> list[Found]:
    """The detections of the first, second, ... modes."""
    most = max(len(posterior.modes) for posterior in sight.posteriors)
    return [_detections(sight, sight.posteriors, k) for k in range(most)]


def _ceiling(sight: Sight) -> list[MixturePosterior]:
    """The mode with fewest mistakes in each frame, the first of equals."""
    scores = [metrics.detection_scores(sight.truth, found, ORACLE) for found in _modes(sight)]
    best = [int(np.argmin([s.misses + s.false_positives for s in frame])) for frame in zip(*scores, strict=True)]
    return [MixturePosterior((p.modes[k],)) for p, k in zip(sight.posteriors, best, strict=True)]


def _counted(sight: Sight, tracks: Tracks) -> NDArray[np.void]:
    """The records at cells that count."""
    return tracks.table[sight.inside[tracks.table["row"], tracks.table["column"]]]


def _positions(sight: Sight, tracks: Tracks) -> Found:
    rows = _counted(sight, tracks)
    places = np.stack([rows["x"], rows["y"]], axis=-1)
    return {t: places[rows["frame"] == t] for t in range(tracks.frames)}


def _identity_scores(sight: Sight, tracks: Tracks, threshold: float = 1.0) -> dict[str, Any]:
    """IDF1 and identity switches by motmetrics, nothing without it."""
    try:
        import motmetrics
    except ImportError:
        return {}
    rows = _counted(sight, tracks)
    accumulator = motmetrics.MOTAccumulator(auto_id=True)
    for t in range(tracks.frames):
        here = rows[rows["frame"] == t]
        found = np.stack([here["x"], here["y"]], axis=-1)
        distance = np.linalg.norm(np.asarray(sight.truth[t])[:, None] - found[None], axis=-1)
        distance[distance > threshold] = np.nan
        accumulator.update(list(sight.identities[t]), here["identity"].tolist(), distance)
    counted = motmetrics.metrics.create().compute(accumulator, metrics=["idf1", "num_switches"])
    return {"idf1": float(counted["idf1"].iloc[0]), "switches": int(counted["num_switches"].iloc[0])}
