"""How long `mf.fit` takes, beside one mean field and one segmentation of each of the same images.

    MIXFIELD_DATA=shared/data PYTHONPATH=. python benchmarks/fitting.py [--images 40] [--threads 2] [--network dl257]

Photographs of 500 x 375 pixels with the scores of a network for 21 labels.  The fit tries 16 settings and five folds,
finds the modes of every image, and calibrates six models.  The rows before it are what nobody can do without: mean
field with the default model, and `mf.segment` with it.  Clock, CPU time, and their ratio, the cores in use.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import mixfield as mf
from experiments.annotated import AnnotatedFolder, Example

DATA = Path(os.environ.get("MIXFIELD_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")) / "segmentation"


def photographs(count: int, network: str) -> list[Example]:
    """Annotated photographs of both sets, the same number of images between two of them."""
    folders = [AnnotatedFolder(DATA / subset, network) for subset in ("voc", "coco")]
    places = [(folder, name) for folder in folders for name in folder.names]
    return [folder.load(name) for folder, name in places[:: max(1, len(places) // count)][:count]]


def timed(name: str, work: Callable[[], object]) -> None:
    """Print a row."""
    clock, cpu = time.perf_counter(), time.process_time()
    work()
    clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
    print(f"{name:34s}{clock:9.1f}s{cpu:9.1f}s{cpu / clock:8.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=40)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--network", choices=("dl513", "dl257"), default="dl257")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    images, solver, model = photographs(given.images, given.network), mf.Solver(threads=given.threads), mf.FieldModel

    def fit(some: list[Example]) -> None:
        mf.fit(*zip(*((one.image, one.probs, one.truth) for one in some), strict=True), solver=solver)

    def fields() -> None:
        for one in images:
            mf.mean_field(model.default().energy(one.probs, one.image), solver=solver)

    def segment() -> None:
        for one in images:
            mf.segment(one.image, one.probs, 8, solver=solver, progress=False)

    fit([one.reduced(4) for one in images[:2]])  # compiles
    print(f"{f'{len(images)} images, {given.threads} threads':34s}{'clock':>10s}{'CPU':>10s}{'cores':>8s}")
    timed("one mean field of each", fields)
    timed("mf.segment of each, 8 modes", segment)
    timed("mf.fit", lambda: fit(images))


if __name__ == "__main__":
    main()
