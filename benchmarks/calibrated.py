"""What calibrated answers cost: `mf.segment` against the modes of the same model without answers, in CPU time.

    MIXFIELD_DATA=shared/data python benchmarks/calibrated.py [--images 6] [--modes 4] [--rounds 3]

Photographs in full resolution with the scores of a network, one thread, both works in turns.  The first ratio is that
of whole segmentations, the second adds the marginals of the mixture, which are blended with the scores.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np

import mixfield as mf
from mixfield._pictures import intensities
from mixfield.apps import FieldModel
from mixfield.apps.evidence import probabilities

DATA = Path(os.environ.get("MIXFIELD_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
SOLVER = mf.Solver(threads=1)
MODEL = FieldModel.default()


def reader() -> ModuleType:
    """The reader of photographs with scores."""
    if not (DATA / "load.py").is_file():
        sys.exit(f"no public data in {DATA}; set MIXFIELD_DATA to its folder")
    spec = importlib.util.spec_from_file_location("calibrated_data", DATA / "load.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def photographs(count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Images and scores, evenly chosen."""
    real = reader()
    names = real.names("segmentation/voc")
    loaded = [real.load("segmentation/voc", name) for name in names[:: max(1, len(names) // count)][:count]]
    return [(image, scores) for image, _, scores in loaded]


def plain(image: np.ndarray, scores: np.ndarray, modes: int) -> mf.MixturePosterior:
    """The modes of the default model, with the weights of the paper."""
    picture = intensities(image)
    probs = probabilities(scores, picture.shape[:2])
    return MODEL.modes(probs, picture, modes, solver=SOLVER, progress=False)


def calibrated(image: np.ndarray, scores: np.ndarray, modes: int) -> mf.MixturePosterior:
    """The same with answers, calibrated weights and order."""
    return mf.segment(image, scores, modes, model=MODEL, solver=SOLVER, progress=False)


def in_turns(works: list[Callable[[], object]], rounds: int) -> list[float]:
    """The least CPU time of each work."""
    times = np.full((rounds, len(works)), np.inf)
    for row in times:
        for k, work in enumerate(works):
            started = time.process_time()
            work()
            row[k] = time.process_time() - started
    return times.min(0).tolist()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("images", 6), ("modes", 4), ("rounds", 3)):
        options.add_argument(f"--{name}", type=int, default=default)
    given = options.parse_args()
    warnings.simplefilter("ignore")
    total = np.zeros(4)
    print(f"{'pixels':>10} {'modes':>8} {'segment':>8} {'ratio':>6} {'with marginals':>15}")
    for image, scores in photographs(given.images):
        arguments = (image, scores, given.modes)
        works = [lambda a=arguments, f=f: f(*a) for f in (plain, calibrated)]
        works += [lambda a=arguments, f=f: f(*a).marginals() for f in (plain, calibrated)]
        row = np.array(in_turns(works, given.rounds))
        total += row
        size = f"{image.shape[1]}x{image.shape[0]}"
        print(f"{size:>10} {row[0]:7.2f}s {row[1]:7.2f}s {row[1] / row[0]:6.3f} {row[3] / row[2]:15.3f}", flush=True)
    print(f"{'all':>10} {total[0]:7.2f}s {total[1]:7.2f}s {total[1] / total[0]:6.3f} {total[3] / total[2]:15.3f}")


if __name__ == "__main__":
    main()
