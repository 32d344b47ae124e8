"""Speed of occupancy maps on the sample of the POM program, side by side with that program where it is at hand, and on
WILDTRACK seen by six cameras of 1920 x 1080 with cells of 10 cm (silhouettes are the boxes of its annotations).

    python benchmarks/people.py [--data ../shared/data] [--reference path/to/pom] [--repeats 3]

All times are medians over the 30 frames of the sample; masks are read before the clock starts on our side, and the time
of the program is its wall time per frame, reading and writing included.  Those of WILDTRACK are the
median wall time and the mean processor time of five frames.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import mixfield as mf
from mixfield import kernels
from mixfield.apps.detection import detect
from mixfield.io import read_cameras
from mixfield.io.pom import parse_pom
from mixfield.io.scene_file import read_footage
from mixfield.scene.view import View

WILDTRACK_AREA = (-3.0, -9.0, 9.0, 27.0)  # metres
WILDTRACK_FRAMES = (0, 250, 500, 745, 995)
AS_RELEASED = mf.Solver(tolerance=1e-4, max_iterations=100, threads=1)


def milliseconds(work: object) -> float:
    started = time.perf_counter()
    work()  # type: ignore[operator]
    return 1e3 * (time.perf_counter() - started)


def reference(binary: Path, sample: Path, ignored: float) -> float:
    """Milliseconds per frame of the program."""
    with tempfile.TemporaryDirectory() as folder:
        lines = [
            line
            for line in (sample / "test.pom").read_text().splitlines()
            if not line.startswith(("RESULT_VIEW_FORMAT", "RESULT_FORMAT", "PROBA_IGNORED", "PROCESS"))
        ]
        lines += [f"RESULT_FORMAT {folder}/p-%f.dat", f"PROBA_IGNORED {ignored}", "PROCESS 160 30"]
        config = Path(folder) / "run.pom"
        config.write_text("\n".join(lines) + "\n")
        return milliseconds(lambda: subprocess.run([binary, config], cwd=sample, check=True, capture_output=True)) / 30


def area_growth(scene: mf.Scene) -> list[tuple[float, float]]:
    """(area of rectangles, microseconds of one field) for rectangles of growing size in the same images."""
    rows = []
    for scale in (0.25, 0.5, 1.0, 2.0):
        views = []
        for view in scene.views:
            middle = (view.boxes[:, :2] + view.boxes[:, 2:]) / 2
            half = scale * (view.boxes[:, 2:] - view.boxes[:, :2]) / 2
            boxes = np.concatenate([middle - half, middle + half], axis=1).round().astype(np.int32)
            boxes[:, 2:] = np.maximum(boxes[:, 2:], boxes[:, :2] + 1)
            boxes[~view.visible] = 0
            boxes[0] = (0, 0, view.width, view.height)  # the same pixels are covered whatever the scale
            views.append(View(view.width, view.height, boxes))
        energy = mf.Occupancy(mf.Scene(scene.ground, tuple(views)), [np.zeros((v.height, v.width)) for v in views])
        n = scene.ground.n
        empty, share, costs = np.full(n, 0.95), np.ones((n, 1)), np.empty((n, 2))
        images = np.empty((3, kernels.silhouettes.largest(energy.views)))
        field = partial(kernels.silhouettes.field, energy.views, empty, share, images, costs)
        times = [milliseconds(field) for _ in range(200)]
        area = sum(((v.boxes[:, 2] - v.boxes[:, 0]) * (v.boxes[:, 3] - v.boxes[:, 1])).sum() for v in views)
        rows.append((float(area), 1e3 * float(np.median(times))))
    return rows


def six_cameras(data: Path, form: str) -> dict[int, tuple[float, float]]:
    """Milliseconds (wall, processor) of a frame of WILDTRACK, by number of modes."""
    folder = data / "people" / "wildtrack"
    scene = mf.Scene.from_cameras(read_cameras(folder)[:6], WILDTRACK_AREA, cell=0.1, form=form)
    frames = [box_masks(folder / "annotations_positions" / f"{frame:08d}.json", 6) for frame in WILDTRACK_FRAMES]
    times = {}
    for modes in (1, 4):
        detect(scene, frames[0], modes)
        processor = time.process_time()
        wall = [milliseconds(partial(detect, scene, frame, modes)) for frame in frames]
        times[modes] = float(np.median(wall)), 1e3 * (time.process_time() - processor) / len(frames)
    return times


def box_masks(annotations: Path, cameras: int) -> list[NDArray[np.bool_]]:
    """Masks of 1920 x 1080 with the boxes of people in each camera."""
    masks = [np.zeros((1080, 1920), bool) for _ in range(cameras)]
    for person in json.loads(annotations.read_text()):
        for mask, box in zip(masks, person["views"], strict=False):
            left, top, right, bottom = (max(box[key], 0) for key in ("xmin", "ymin", "xmax", "ymax"))
            mask[top:bottom, left:right] = True
    return masks


def main(data: Path, binary: Path | None, repeats: int) -> None:
    warnings.simplefilter("ignore")
    sample = data / "people" / "pom_sample"
    config, footage = parse_pom(sample / "test.pom"), read_footage(sample / "test.pom")
    scene = config.scene()
    masks = [footage.masks(frame) for frame in config.frames]
    detect(scene, masks[0])
    for ignored in (1.0, 0.99):
        one, four, theirs = [], [], []
        for _ in range(repeats):
            for frame in masks:
                energy = mf.Occupancy(scene, frame, ignored=ignored, damping=0.8)
                one.append(milliseconds(partial(mf.mean_field, energy, solver=AS_RELEASED)))
                four.append(milliseconds(partial(detect, scene, frame, ignored=ignored)))
            theirs += [reference(binary, sample, ignored)] if binary is not None else []
        print(f"ignored {ignored}: one mode {np.median(one):.1f} ms, four modes {np.median(four):.1f} ms per frame")
        if theirs:
            base = float(np.median(theirs))
            faster, share = base / np.median(one), np.median(four) / base
            print(
                f"  reference {base:.1f} ms: {faster:.1f} times faster; four modes take {share:.2f} of its time for one"
            )
    for form in ("released", "local"):
        for modes, (wall, processor) in six_cameras(data, form).items():
            print(f"six cameras, {form} form, {modes} modes: {wall:.0f} ms per frame, {processor:.0f} ms of CPU")
    print("one field, by the total area of the rectangles:")
    for area, micros in area_growth(scene):
        print(f"  {area:.3g} pixels: {micros:.0f} us")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("MIXFIELD_DATA", "../shared/data")))
    parser.add_argument("--reference", type=Path, default=None, help="the program built from its sources")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    main(options.data, options.reference, options.repeats)
