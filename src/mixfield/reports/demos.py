"""The three demos of ``mixfield demo``: a photograph with scribbles, people seen by two cameras, a small graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from mixfield import datasets
from mixfield.apps.detection import detect
from mixfield.apps.tracking import track
from mixfield.datasets import Walk
from mixfield.io.tracks import write_csv
from mixfield.io.uai import write_uai
from mixfield.mixture.posterior import MixturePosterior
from mixfield.reports.motivation import STEPS as STEPS
from mixfield.reports.motivation import motivation
from mixfield.reports.report import report
from mixfield.reports.strokes import write_strokes
from mixfield.solvers.options import Solver

Progress = Callable[[int], None]

N_MODES = 4
FRAMES = 9  # a short walk in which the tracks choose a mode that is not the heaviest
FRAME_RATE, MAX_SPEED = 4.0, 2.0  # frames and metres per second


def photograph(folder: Path, *, rng: int = 0, solver: Solver | None = None, progress: Progress) -> dict[str, Any]:
    """Write four segmentations of a photograph with scribbles, and return a summary."""
    photo = datasets.scribbled_photo()
    summary = write_strokes(
        folder, photo.image, photo.scribbles, N_MODES, names=photo.names, rng=rng, solver=solver, progress=progress
    )
    page = report(folder, folder / "report.html", title="Who is the astronaut?")
    return summary | {"report": str(page)}


def people(folder: Path, *, rng: int = 0, solver: Solver | None = None, progress: Progress) -> dict[str, Any]:
    """Write four modes of each frame of a walk seen by two cameras, and tracks; return a summary of the tracks."""
    walk = datasets.walking_people(n_people=4, n_cameras=2, n_frames=FRAMES, rng=rng)
    (folder / "modes").mkdir(parents=True, exist_ok=True)
    posteriors = []
    for frame, posterior in enumerate(_detected(walk, rng, solver or Solver())):
        posterior.save(folder / "modes" / f"frame_{frame:06d}.npz")
        posteriors.append(posterior)
        progress(frame + 1)
    tracks = track(posteriors, walk.scene, frame_rate=FRAME_RATE, max_speed=MAX_SPEED)
    write_csv(folder / "tracks.csv", tracks)
    page = report(
        posteriors,
        folder / "report.html",
        scene=walk.scene,
        pictures=[list(masks) for masks in walk.masks],
        tracks=tracks,
        title="People in a room",
    )
    return tracks.summary() | {
        "chosen_modes": tracks.chosen_modes.tolist(),
        "weights": [posterior.weights.tolist() for posterior in posteriors],
        "report": str(page),
    }


def _detected(walk: Walk, rng: int, solver: Solver) -> Iterator[MixturePosterior]:
    """The posterior of each frame, several frames at a time with one thread each."""
    single = replace(solver, threads=1)
    with ThreadPoolExecutor(solver.threads) as pool:
        yield from pool.map(lambda masks: detect(walk.scene, list(masks), N_MODES, rng=rng, solver=single), walk.masks)


def graph(folder: Path, *, rng: int = 0, solver: Solver | None = None, progress: Progress) -> dict[str, Any]:
    """Write the motivating example of the paper as a UAI model with its two modes, and return a summary."""
    found = motivation(rng=rng, solver=solver, progress=progress)
    folder.mkdir(parents=True, exist_ok=True)
    write_uai(folder / "four-zones.uai", found.graph)
    found.posterior.save(folder / "result.npz")
    first, second = found.posterior.labelings()
    page = report(found.posterior, folder / "report.html", exact_log_z=found.true_log_z, title="Four zones")
    return {
        "shape": list(found.graph.shape),
        "flipped_variables": int(found.flipped.sum()),
        "differing_variables": int((first != second).sum()),
        "corner": float(found.single.marginals[-1, -1, 1]),
        "mean_field_log_z": found.single.log_z,
        "mixture_log_z": found.posterior.log_z,
        "exact_log_z": found.true_log_z,
        "log_odds": found.log_odds,
        "exact_log_odds": found.true_log_odds,
        "weights": found.posterior.weights.tolist(),
        "report": str(page),
        "model": str(folder / "four-zones.uai"),
    }
