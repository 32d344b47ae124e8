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
ORACLE = 1.0  # metres at which the oracle of the ceiling chooses
CEILING = "oracle's modes + KSP"
PRINTED = "modes + KSP*, printed price"
WAYS = ("mean field + KSP", "modes + KSP*", PRINTED, f"{PRINTED}, clipped", CEILING)
DRAWN = ("modes + KSP*", "mean field + KSP", "best mode", "mean field", CEILING)
INTRODUCTION = """# People through time

`mixfield reproduce tracking` made this page: people detected frame by frame, then joined into tracks by
disjoint paths through time. *KSP* takes one map of each frame, *KSP\\** chooses one of its modes together with
the paths.

MODA by Hungarian matching on the ground; 95 % intervals from resampled blocks of ten frames. *Best mode* is the
oracle of the page on detection, and *oracle's modes + KSP* gives the modes that it chooses at one metre to KSP:
the most that a choice of modes can bring. IDF1 and switches are at one metre. *Gap* is the certificate: no
choice of modes and paths costs less than this below the answer. Settings are the defaults of `mf.track`,
windows of 50 frames with 15 of look ahead.

**What a mode costs.** The paper prices a mode at log((1 - m) / m) and a person in it at log((1 - q) / q). A
mode in which somebody is asserted (q near 1, as clamps do) then earns up to 13.8 nats for each of them, and
pays nothing where no track explains them: KSP\\* is drawn to the modes with more people, and only clipping q
tames it. The posterior says what was left out: -log(m Q(x)) is -log m - sum log(1 - q) for the mode, and log((1
- q) / q) for each person. The second term of the price is the same for all tracks and KSP may forget it, but it
differs between modes and KSP\\* may not. With it a mode that asserts somebody pays for that what a track
through them earns back, and no clipping is needed. Both are below, the printed price also with q clipped at
0.01.

![MODA over the distance threshold](tracking.svg)
""".splitlines()


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
    candidates = (single, posteriors, posteriors, posteriors, ceiling)
    printed = {"price": printed_price}
    prices: tuple[dict[str, Any], ...] = ({}, {}, printed, printed | {"clip": 0.01}, {})
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
    for frame in run.run(footage, range(frames), solver=solver):
        progress(f"modes of frame {frame}")
    posteriors = list(run.load(range(frames)).values())
    single = []
    for frame in range(frames):
        progress(f"mean field of frame {frame}")
        single.append(MixturePosterior((mean_field(Occupancy(scene, footage.masks(frame)), solver=solver),)))
    people = recording.people(range(frames))
    result = compare(
        posteriors,
        scene,
        {frame: feet for frame, (_, feet) in people.items()},
        progress,
        single=single,
        inside=scene.interest,
        identities={frame: names.tolist() for frame, (names, _) in people.items()},
        frame_rate=recording.frame_rate,
        windows=Windows(50, 15),
    )
    return result | {"views": list(recording.views)}


def write_page(results: dict[str, Any], out: Path) -> Path:
    """``tracking.json``, ``tracking.svg`` and ``tracking.md`` in a folder; returns the page."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "tracking.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    parts = [
        (f"PETS 2009 S2.L1, view {' and '.join(map(str, part['views']))}, {part['frames']} frames", [part])
        for part in results["recorded"]
    ]
    if walks := results["synthetic"]["scenes"]:
        parts.append((f"Walks with doubts, mean of {len(walks)}", walks))
    _figure(parts, out / "tracking.svg")
    lines = list(INTRODUCTION)
    for title, part in parts:
        lines += [f"## {title}", "", *_table(part), ""]
    page = out / "tracking.md"
    page.write_text("\n".join(lines), encoding="utf-8")
    return page


def _figure(parts: Sequence[tuple[str, Sequence[dict[str, Any]]]], path: Path) -> None:
    from mixfield.report.curves import Curve, Panel, write_curves

    panels = []
    for title, part in parts:
        curves = [
            Curve(
                name,
                THRESHOLDS,
                _moda(part, name),
                [point["interval"] for point in part[0]["curves"][name]] if len(part) == 1 else (),
                dashed=name == CEILING,
            )
            for name in DRAWN
        ]
        panels.append(Panel(title, "distance threshold (m)", "MODA", curves, top=1.0))
    write_curves(path, panels)


def _moda(parts: Sequence[dict[str, Any]], name: str) -> list[float]:
    """Means over ``parts`` at each threshold."""
    return np.mean([[point["moda"] for point in part["curves"][name]] for part in parts], axis=0).tolist()


def _table(parts: Sequence[dict[str, Any]]) -> list[str]:
    """Means over ``parts``; the interval at one metre is that of a single part."""
    at = THRESHOLDS.index(1.0)
    facts = {
        "people": "people_per_frame", "tracks": "tracks", "IDF1": "idf1", "switches": "switches",
        "other than heaviest": "frames_not_heaviest", "gap %": "gap_percent", "seconds": "seconds",
    }  # fmt: skip
    heads = ["", *(f"{d:g} m" for d in THRESHOLDS), "95 % at 1 m", *facts]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for name in parts[0]["curves"]:
        low, high = parts[0]["curves"][name][at]["interval"]
        interval = f"{low:.3f} to {high:.3f}" if len(parts) == 1 else ""
        runs = [part["tracks"].get(name, {}) for part in parts]
        told = [_mean(runs, key) for key in facts.values()]
        lines.append(f"| {name} | " + " | ".join([*(f"{m:.3f}" for m in _moda(parts, name)), interval, *told]) + " |")
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
