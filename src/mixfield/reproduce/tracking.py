"""People through time (section 7.2 of the paper): MODA over the distance threshold with and without tracks.

Mean field and the oracle's best mode, frame by frame; KSP on mean field, KSP* on the modes, with the posterior price
and with the printed one; and KSP on the modes that the oracle chooses, as a ceiling.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import metrics
from mixfield.apps.tracking import HasGround, Tracks, track
from mixfield.datasets.doubts import doubtful_walk
from mixfield.mixture.posterior import MixturePosterior
from mixfield.temporal.costs import printed_price
from mixfield.temporal.windows import Windows

Floats = NDArray[np.float64]
Found = dict[int, Floats]
Progress = Callable[[str], None]

THRESHOLDS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
WAYS = ("mean field + KSP", "modes + KSP*", "modes + KSP*, printed price", "oracle's modes + KSP")
ORACLE = 1.0  # metres at which the oracle of the ceiling chooses


def compare(
    posteriors: Sequence[MixturePosterior],
    scene: HasGround,
    truth: Mapping[int, Floats],
    progress: Progress,
    *,
    single: Sequence[MixturePosterior] | None = None,
    inside: NDArray[np.bool_] | None = None,
    identities: Mapping[int, Sequence[int]] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """MODA of each method at each threshold, with bootstrap intervals, and how the tracks came about.

    Parameters
    ----------
    posteriors : one per frame, 0, 1, 2, ...
    scene : what they are about.
    truth : (k, 2) true positions of each frame.
    single : mean fields, one mode per frame; the heaviest modes if not given.
    inside : (rows, columns) cells that count; all if not given.
    identities : of the true positions, for IDF1 and switches, if motmetrics is there to count them.
    options : of `track`.
    """
    ground = scene.ground
    inside = np.ones(ground.shape, bool) if inside is None else inside
    single = [MixturePosterior(p.modes[:1]) for p in posteriors] if single is None else single
    modes = [_detections(posteriors, k, ground.centres(), inside) for k in range(max(len(p.modes) for p in posteriors))]
    curves = {
        "mean field": [_score(truth, [_detections(single, 0, ground.centres(), inside)], d) for d in THRESHOLDS],
        "best mode": [_score(truth, modes, d) for d in THRESHOLDS],
    }
    chosen = _oracle(truth, modes)
    ceiling = [MixturePosterior((p.modes[min(k, len(p.modes) - 1)],)) for p, k in zip(posteriors, chosen, strict=True)]
    runs: dict[str, dict[str, Any]] = {}
    candidates = (single, posteriors, posteriors, ceiling)
    prices: tuple[dict[str, Any], ...] = ({}, {}, {"price": printed_price}, {})
    for name, given, more in zip(WAYS, candidates, prices, strict=True):
        progress(name)
        started = time.perf_counter()
        tracks = track(given, scene, **options, **more)
        seconds = time.perf_counter() - started
        found = _positions(tracks, inside)
        curves[name] = [_score(truth, [found], d) for d in THRESHOLDS]
        runs[name] = tracks.summary() | {"seconds": seconds, "violations": len(tracks.violations())}
        if identities is not None:
            runs[name] |= _identity_scores(truth, identities, tracks, inside)
    return {"frames": len(posteriors), "curves": curves, "tracks": runs}


def synthetic(progress: Progress, *, scenes: int = 5, frames: int = 80) -> dict[str, Any]:
    """The same on seeded walks with doubts."""
    results = []
    for seed in range(scenes):
        walk = doubtful_walk(frames, rng=seed)
        rows = [walk.truth[walk.truth["frame"] == t] for t in range(frames)]
        truth = {t: np.stack([r["x"], r["y"]], axis=-1) for t, r in enumerate(rows)}
        names = {t: r["identity"].tolist() for t, r in enumerate(rows)}
        progress(f"walk {seed}")
        results.append(compare(walk.posteriors, walk, truth, progress, identities=names))
    return {"scenes": results}


def recorded(recording: Any, frames: int, folder: Path, progress: Progress) -> dict[str, Any]:
    """The first frames of a recording such as `Pets`; posteriors are kept in ``folder``."""
    from mixfield.energy.occupancy import Occupancy
    from mixfield.io.detection_run import DetectionRun
    from mixfield.meanfield.solver import Solver, mean_field

    scene, footage = recording.scene(), recording.footage()
    solver = Solver(tolerance=1e-4, max_iterations=300)
    run = DetectionRun(folder, scene)
    single = []
    for frame in run.run(footage, range(frames), solver=solver):
        progress(f"frame {frame}")
        single.append(MixturePosterior((mean_field(Occupancy(scene, footage.masks(frame)), solver=solver),)))
    posteriors = list(run.load(range(frames)).values())
    truth = recording.truth(range(frames))
    options = {"frame_rate": recording.frame_rate, "windows": Windows(50, 15)}
    result = compare(posteriors, scene, truth, progress, single=single, inside=scene.interest, **options)
    return result | {"views": list(recording.views)}


def write_page(results: dict[str, Any], out: Path) -> Path:
    """``tracking.json`` and ``tracking.md`` in a folder; returns the page."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "tracking.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    lines = ["# People through time", "", "`mixfield reproduce tracking` made this page.", ""]
    for part in results["recorded"]:
        views = " and ".join(map(str, part["views"]))
        lines += [f"## PETS 2009 S2.L1, view {views}, {part['frames']} frames", "", *_table([part]), ""]
    if results["synthetic"]["scenes"]:
        count = len(results["synthetic"]["scenes"])
        lines += [f"## Walks with doubts, mean of {count}", "", *_table(results["synthetic"]["scenes"]), ""]
    page = out / "tracking.md"
    page.write_text("\n".join(lines), encoding="utf-8")
    return page


def _table(parts: Sequence[dict[str, Any]]) -> list[str]:
    """Means over ``parts``; the interval at one metre is that of a single part."""
    at = THRESHOLDS.index(1.0)
    lines = [
        "| | " + " | ".join(f"{d:g} m" for d in THRESHOLDS) + " | 95 % at 1 m | tracks | IDF1 | gap % | seconds |",
        "|---" * (len(THRESHOLDS) + 6) + "|",
    ]
    for name in parts[0]["curves"]:
        moda = np.mean([[point["moda"] for point in part["curves"][name]] for part in parts], axis=0)
        low, high = parts[0]["curves"][name][at]["interval"]
        interval = f"{low:.3f} to {high:.3f}" if len(parts) == 1 else ""
        runs = [part["tracks"].get(name, {}) for part in parts]
        facts = [_mean(runs, key) for key in ("tracks", "idf1", "gap_percent", "seconds")]
        lines.append(f"| {name} | " + " | ".join([*(f"{m:.3f}" for m in moda), interval, *facts]) + " |")
    return lines


def _mean(runs: Sequence[dict[str, Any]], key: str) -> str:
    values = [run[key] for run in runs if key in run]
    return f"{np.mean(values):.3g}" if values else ""


def _detections(posteriors: Sequence[MixturePosterior], k: int, centres: Floats, inside: NDArray[np.bool_]) -> Found:
    """Cells above one half in the k-th mode of each frame, the last one where there are fewer."""
    chosen = [p.modes[min(k, len(p.modes) - 1)].marginals[..., 1] for p in posteriors]
    return {t: centres[(q > 0.5) & inside] for t, q in enumerate(chosen)}


def _positions(tracks: Tracks, inside: NDArray[np.bool_]) -> Found:
    rows = tracks.table[inside[tracks.table["row"], tracks.table["column"]]]
    places = np.stack([rows["x"], rows["y"]], axis=-1)
    return {t: places[rows["frame"] == t] for t in range(tracks.frames)}


def _score(truth: Mapping[int, Floats], candidates: Sequence[Found], threshold: float) -> dict[str, Any]:
    frames = metrics.best_detections([metrics.detection_scores(truth, found, threshold) for found in candidates])
    total = metrics.total(frames)
    return {
        "threshold": threshold,
        "moda": total.moda,
        "interval": list(metrics.bootstrap(frames)),
        "misses": total.misses,
        "false_positives": total.false_positives,
        "truths": total.truths,
    }


def _oracle(truth: Mapping[int, Floats], modes: Sequence[Found]) -> list[int]:
    """The mode with fewest mistakes in each frame, the first of equals."""
    scores = [metrics.detection_scores(truth, found, ORACLE) for found in modes]
    return [int(np.argmin([s.misses + s.false_positives for s in frame])) for frame in zip(*scores, strict=True)]


def _identity_scores(
    truth: Mapping[int, Floats],
    identities: Mapping[int, Sequence[int]],
    tracks: Tracks,
    inside: NDArray[np.bool_],
    threshold: float = 1.0,
) -> dict[str, Any]:
    """IDF1 and identity switches by motmetrics, nothing without it."""
    try:
        import motmetrics
    except ImportError:
        return {}
    rows = tracks.table[inside[tracks.table["row"], tracks.table["column"]]]
    accumulator = motmetrics.MOTAccumulator(auto_id=True)
    for t in range(tracks.frames):
        here = rows[rows["frame"] == t]
        found = np.stack([here["x"], here["y"]], axis=-1)
        distance = np.linalg.norm(np.asarray(truth[t])[:, None] - found[None], axis=-1)
        distance[distance > threshold] = np.nan
        accumulator.update(list(identities[t]), here["identity"].tolist(), distance)
    counted = motmetrics.metrics.create().compute(accumulator, metrics=["idf1", "num_switches"])
    return {"idf1": float(counted["idf1"].iloc[0]), "switches": int(counted["num_switches"].iloc[0])}
