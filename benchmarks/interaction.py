"""How long an annotator waits: one click of `mf.Annotation` until labels, alternatives and question are there.

    MIXFIELD_DATA=shared/data python benchmarks/interaction.py [--images 10] [--clicks 8] [--large-clicks 5]

Photographs of 481 x 321 pixels, and one enlarged to 12 megapixels with noise; clicks on the object and around it in
turns, at points of the truth.  The image is open and the loops are compiled (warm).  ``labels`` is the wait for the
segmentation, ``all`` for the alternatives and the question too.  The peer is GrabCut of OpenCV, 5 iterations after all
clicks (one on the large photograph); all run in turns, in seconds of the clock, with CPU seconds beside.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

import mixfield as mf
from mixfield.interactive.annotation_actions import painted

DATA = Path(os.environ.get("MIXFIELD_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")) / "interactive"
LARGE = 3000, 4000  # height and width
ITERATIONS = 5
OBJECT = 255  # value of the truth


def photographs(count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Images and whether each pixel is of the object."""
    if not DATA.is_dir():
        sys.exit(f"no photographs in {DATA}; set MIXFIELD_DATA to the folder of the public data")
    truths = sorted((DATA / "gt").iterdir())[:count]
    images = [next((DATA / "img").glob(f"{truth.stem}.*")) for truth in truths]
    return [
        (np.asarray(Image.open(image).convert("RGB")), np.asarray(Image.open(truth).convert("L")) == OBJECT)
        for image, truth in zip(images, truths, strict=True)
    ]


def enlarged(image: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A photograph of 12 megapixels."""
    height, width = LARGE if image.shape[0] < image.shape[1] else LARGE[::-1]
    big = cv2.resize(image, (width, height), interpolation=cv2.INTER_CUBIC).astype(np.int16)
    noise = np.random.default_rng(0).integers(-6, 7, big.shape)
    return (big + noise).clip(0, 255).astype(np.uint8), cv2.resize(truth.astype(np.uint8), (width, height)) > 0


def places(truth: np.ndarray, count: int) -> list[tuple[int, int, int]]:
    """Clicks ``(x, y, label)`` at random places of the object and of the background in turns."""
    rng = np.random.default_rng(0)
    where = [np.argwhere(truth == label) for label in (0, 1)]
    return [(*rng.choice(where[k % 2])[::-1].tolist(), k % 2) for k in range(1, count + 1)]


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of the clock and of the processors."""
    clock, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - cpu


def interactions(image: np.ndarray, clicks: list[tuple[int, int, int]]) -> np.ndarray:
    """(clicks, 2, 2) seconds until the labels and until everything is there, by the clock and of the processors."""
    annotation = mf.Annotation(image, ["background", "object"])
    annotation.labels()
    rows = []
    for x, y, label in clicks:
        annotation.click(x, y, label)
        first = timed(annotation.labels)
        rest = timed(lambda: (annotation.suggest(), annotation.question()))
        rows.append([first, np.add(first, rest)])
    return np.array(rows)


def grabcut(image: np.ndarray, clicks: list[tuple[int, int, int]], iterations: int) -> tuple[float, float]:
    """Seconds of GrabCut with the same clicks."""
    annotation = mf.Annotation(image[:8, :8], ["background", "object"])
    for x, y, label in clicks:
        annotation.click(x, y, label)
    strokes = painted(annotation.actions, image.shape[:2])
    mask = np.select([strokes == 0, strokes == 1], [cv2.GC_BGD, cv2.GC_FGD], cv2.GC_PR_BGD).astype(np.uint8)
    models = np.zeros((1, 65)), np.zeros((1, 65))
    return timed(lambda: cv2.grabCut(image, mask, None, *models, iterations, cv2.GC_INIT_WITH_MASK))


def show(title: str, rows: np.ndarray, peer: np.ndarray) -> None:
    """Print medians and 95 %, and the ratio of the CPU times to those of the peer."""
    for name, seconds in (("labels", rows[:, 0]), ("all", rows[:, 1])):
        clock, cpu = seconds.T
        ratio = np.median(cpu) / np.median(peer[:, 1])
        print(
            f"{title:>10}  {name:<7} median {np.median(clock):6.3f} s, 95 % {np.quantile(clock, 0.95):6.3f} s; "
            f"CPU median {np.median(cpu):6.3f} s, {ratio:5.2f} of GrabCut's {np.median(peer[:, 1]):.2f} s"
        )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("images", 10), ("clicks", 8), ("large-clicks", 5)):
        options.add_argument(f"--{name}", type=int, default=default)
    given = options.parse_args()
    loaded = photographs(given.images)
    interactions(loaded[0][0], places(loaded[0][1], 2))  # compiles
    rows, peer = [], []
    for image, truth in loaded:
        clicks = places(truth, given.clicks)
        rows.append(interactions(image, clicks))
        peer.append(grabcut(image, clicks, ITERATIONS))
    show("481 x 321", np.concatenate(rows), np.array(peer))
    if given.large_clicks:
        image, truth = enlarged(*loaded[0])
        clicks = places(truth, given.large_clicks)
        rows = [interactions(image, clicks)]
        show("4000 x 3000", np.concatenate(rows), np.array([grabcut(image, clicks, 1)]))


if __name__ == "__main__":
    main()
