"""Three stories that need no data: a photograph with scribbles, people in a room, a small graph."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mixfield import datasets
from mixfield.apps.detection import detect, positions
from mixfield.apps.segmentation import entropy_gap
from mixfield.apps.superpixels import superpixel_energy
from mixfield.apps.tracking import track
from mixfield.io.images import write_label_map
from mixfield.io.tracks import write_csv
from mixfield.io.uai import write_uai
from mixfield.mixture.tree import infer
from mixfield.reports.field_page import field_page
from mixfield.reports.motivation import STEPS as STEPS
from mixfield.reports.motivation import motivation
from mixfield.reports.people_page import TrackTable, people_page
from mixfield.reports.results import report_page
from mixfield.reports.segmentation import write_segmentation
from mixfield.reports.svg import Panel, figure
from mixfield.solvers.options import Solver

Progress = Callable[[int], None]

CERTAINTY = 0.99  # of a scribble
FRAMES = 9  # an illustration: chosen, like the speed below, for a short walk in which time settles a doubt
TOLERANCE, ITERATIONS = 1e-4, 300  # for people, as for `mixfield detect`


def photograph(folder: Path, *, rng: int = 0, solver: Solver | None = None, progress: Progress) -> dict[str, Any]:
    """Four interpretations of scribbles on a photograph that leave two questions open."""
    photo = datasets.scribbled_photo()
    energy = superpixel_energy(photo.image, photo.scribbles, photo.superpixels, certainty=CERTAINTY)
    posterior = infer(energy, 4, rng=rng, solver=solver, progress=progress)
    gap = entropy_gap(energy, posterior.modes[0], solver=solver)[photo.superpixels]
    folder.mkdir(parents=True, exist_ok=True)
    summary = write_segmentation(folder, photo.image, posterior, gap, superpixels=photo.superpixels)
    write_label_map(folder / "scribbles.png", np.where(photo.scribbles < 0, 255, photo.scribbles))
    (folder / "labels.txt").write_text("\n".join(photo.names), encoding="utf-8")
    (folder / "report.html").write_text(report_page(folder, title="Who is the astronaut?"), encoding="utf-8")
    return summary | {"report": str(folder / "report.html"), "figure": str(folder / "figure.png")}


def people(folder: Path, *, rng: int = 0, solver: Solver | None = None, progress: Progress) -> dict[str, Any]:
    """People in a room seen by two cameras: four explanations of each frame, and tracks that choose among them."""
    solver = solver or Solver()
    alone = replace(solver, tolerance=TOLERANCE, max_iterations=ITERATIONS, threads=1)  # frames run side by side
    walk = datasets.walking_people(n_people=4, n_cameras=2, n_frames=FRAMES, rng=rng)
    (folder / "modes").mkdir(parents=True, exist_ok=True)
    posteriors = {}
    with ThreadPoolExecutor(solver.threads) as pool:
        explained = pool.map(lambda masks: detect(walk.scene, list(masks), 4, rng=rng, solver=alone), walk.masks)
        for frame, posterior in enumerate(explained):
            posteriors[frame] = posterior
            posterior.save(folder / "modes" / f"frame_{frame:06d}.npz")
            progress(frame + 1)
    tracks = track(posteriors.values(), walk.scene, frame_rate=4.0, max_speed=2.0)
    write_csv(folder / "tracks.csv", tracks)
    pictures = {frame: list(masks) for frame, masks in enumerate(walk.masks)}
    page = people_page(
        posteriors, walk.scene, pictures=pictures, tracks=TrackTable.of(tracks), title="People in a room"
    )
    (folder / "report.html").write_text(page, encoding="utf-8")
    doubtful = min(posteriors, key=lambda frame: float(posteriors[frame].weights[0]))
    panels = [
        Panel(
            f"mode {k + 1}",
            mode.marginals[::-1, :, 1],
            f"{100 * weight:.0f} %, {len(positions(mode, walk.scene))} people",
        )
        for k, (weight, mode) in enumerate(zip(posteriors[doubtful].weights, posteriors[doubtful].modes, strict=True))
    ]
    title = f"Frame {doubtful}: who stands where, in {len(panels)} explanations"
    picture = figure(panels, title=title, caption="The room from above; white where somebody stands.")
    (folder / "people.svg").write_text(picture, encoding="utf-8")
    return tracks.summary() | {
        "chosen_modes": tracks.chosen_modes.tolist(),
        "weights": [posterior.weights.tolist() for posterior in posteriors.values()],
        "report": str(folder / "report.html"),
        "figure": str(folder / "people.svg"),
    }


def graph(folder: Path, *, rng: int = 0, solver: Solver | None = None, progress: Progress) -> dict[str, Any]:
    """The paper's motivation as a UAI model: what mean field commits to, the two modes, and the truth."""
    story = motivation(rng=rng, solver=solver, progress=progress)
    folder.mkdir(parents=True, exist_ok=True)
    write_uai(folder / "four-zones.uai", story.graph)
    (folder / "four-zones.svg").write_text(story.svg(), encoding="utf-8")
    story.posterior.save(folder / "result.npz")
    page = field_page(story.posterior, exact_log_z=story.true_log_z, title="Four zones")
    (folder / "report.html").write_text(page, encoding="utf-8")
    return {
        "shape": list(story.graph.shape),
        "flipped_variables": int(story.flipped.sum()),
        "corner": float(story.single.marginals[-1, -1, 1]),
        "mean_field_log_z": story.single.log_z,
        "mixture_log_z": story.posterior.log_z,
        "exact_log_z": story.true_log_z,
        "log_odds": story.log_odds,
        "exact_log_odds": story.true_log_odds,
        "weights": story.posterior.weights.tolist(),
        "report": str(folder / "report.html"),
        "figure": str(folder / "four-zones.svg"),
        "model": str(folder / "four-zones.uai"),
    }
