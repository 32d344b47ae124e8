"""Dense CRFs beside pydensecrf, in one run: time, modes, memory, growth, bandwidth, and the first call.

    pip install pydensecrf2 pillow
    python benchmarks/dense.py [--quick] [--only speed,real,modes,memory,growth,bandwidth,startup]

Both programs take turns, so that whatever else the machine does disturbs both; figures are medians.  Processor time, of
all threads together, stands beside wall time: it tells more where the machine is shared.  Photographs with scores come
from ../shared/data beside the checkout, or from MIXFIELD_DATA; without them a smooth picture stands in.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import numpy as np
from scipy.ndimage import gaussian_filter

import mixfield as mf

Work = Callable[[], object]
DATA = Path(os.environ.get("MIXFIELD_DATA", Path(__file__).parents[2] / "shared" / "data"))
ITERATIONS = 10


@dataclass(frozen=True)
class Setting:
    """Bandwidths and weights of the two kernels."""

    sxy: float
    srgb: float
    weight: float
    smooth_sxy: float = 3.0
    smooth_weight: float = 3.0


README = Setting(80.0, 13.0, 10.0)
DEEPLAB = Setting(67.0, 3.0, 4.0)


@dataclass(frozen=True)
class Case:
    """A picture (H, W, 3) with costs (H, W, L)."""

    image: np.ndarray
    unary: np.ndarray
    setting: Setting


# ---------------------------------------------------------------- what is solved


@cache
def reader() -> ModuleType | None:
    """The reader of photographs with scores, if they are there."""
    if not (DATA / "load.py").is_file() or importlib.util.find_spec("PIL") is None:
        return None
    spec = importlib.util.spec_from_file_location("dense_data", DATA / "load.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def picture(height: int, width: int) -> np.ndarray:
    """A photograph, mirrored at its edges to fill the size, or smooth colours."""
    real = reader()
    if real is None:
        noise = np.random.default_rng(1).normal(size=(height, width, 3))
        smooth = gaussian_filter(noise, (20, 20, 0))
        return np.clip(128 + 50 * smooth / smooth.std(), 0, 255).astype(np.uint8)
    image = real.load("segmentation/voc", real.names("segmentation/voc")[0])[0]
    rows, columns = (mirrored(size, wanted) for size, wanted in zip(image.shape, (height, width), strict=False))
    return np.ascontiguousarray(image[rows][:, columns])


def mirrored(size: int, wanted: int) -> np.ndarray:
    """0 to size - 1 and back, again and again."""
    return np.pad(np.arange(size), (0, wanted), mode="symmetric")[:wanted]


def random_case(height: int, width: int, n_labels: int, setting: Setting = README) -> Case:
    """Smooth random scores: filtered noise of standard deviation 2."""
    noise = np.random.default_rng(0).normal(size=(height, width, n_labels)).astype(np.float32)
    smooth = gaussian_filter(noise, (8, 8, 0))
    return Case(picture(height, width), (2 * smooth / smooth.std()).astype(np.float32), setting)


def real_cases(count: int) -> list[Case]:
    """Photographs with the scores of a network."""
    real = reader()
    if real is None:
        return []
    names = real.names("segmentation/voc")
    chosen = names[:: max(1, len(names) // count)][:count]
    loaded = [real.load("segmentation/voc", name) for name in chosen]
    return [Case(image, -np.log(np.maximum(probs, 1e-8)).astype(np.float32), DEEPLAB) for image, _, probs in loaded]


# ---------------------------------------------------------------- who solves it


def peer(case: Case, module: str = "pydensecrf.densecrf") -> Work:
    """pydensecrf, or the module that stands in for it: set-up and ten iterations."""
    densecrf = importlib.import_module(module)
    height, width, n_labels = case.unary.shape
    unary = np.ascontiguousarray(case.unary.reshape(-1, n_labels).T)
    s = case.setting

    def work() -> object:
        crf = densecrf.DenseCRF2D(width, height, n_labels)
        crf.setUnaryEnergy(unary)
        crf.addPairwiseGaussian(sxy=s.smooth_sxy, compat=s.smooth_weight)
        crf.addPairwiseBilateral(sxy=s.sxy, srgb=s.srgb, rgbim=case.image, compat=s.weight)
        return np.asarray(crf.inference(ITERATIONS))

    return work


def ours(case: Case, threads: int, iterations: int | None = ITERATIONS, n_modes: int = 0) -> Work:
    """`mf.mean_field` with a number of iterations or to convergence (None), or `mf.infer`: set-up included."""
    s = case.setting

    def work() -> object:
        os.environ["MIXFIELD_THREADS"] = str(threads)
        kernels = [mf.Gaussian(s.smooth_sxy, s.smooth_weight), mf.Bilateral(case.image, s.sxy, s.srgb, s.weight)]
        crf = mf.DenseCRF(case.unary, kernels)
        if n_modes:
            return mf.infer(crf, n_modes, solver=mf.Solver(threads=threads))
        return mf.mean_field(crf, solver=mf.Solver(max_iterations=iterations, threads=threads)).marginals

    return work


def drop_in(case: Case, threads: int) -> Work:
    """The same calls as the peer, to the module that stands in for it."""
    inner = peer(case, "mixfield.pydensecrf.densecrf")

    def work() -> object:
        os.environ["MIXFIELD_THREADS"] = str(threads)
        return inner()

    return work


# ---------------------------------------------------------------- how it is measured


@dataclass(frozen=True)
class Taken:
    """Seconds on the wall, and of all processors together."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.wall:8.3f} s ({self.cpu:.3f} s of processors)"

    def over(self, other: Taken) -> Taken:
        """How many times the other."""
        return Taken(self.wall / other.wall, self.cpu / other.cpu)


def seconds(work: Work) -> Taken:
    """One call."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Taken(time.perf_counter() - wall, time.process_time() - cpu)


def middle(taken: Iterable[Taken]) -> Taken:
    """The median, of each for itself."""
    return Taken(*np.median([(one.wall, one.cpu) for one in taken], axis=0).tolist())


def medians(works: Iterable[Work], repeats: int) -> list[Taken]:
    """Median times of several programs that take turns; compiled and loaded before."""
    works = list(works)
    rounds = [[seconds(work) for work in works] for _ in range(repeats)]
    return [middle(column) for column in zip(*rounds, strict=True)]


def warm_up() -> None:
    """Load and compile both programs."""
    case = random_case(60, 80, 21)
    for work in (peer(case), ours(case, 1), ours(case, 2), ours(case, 2, n_modes=4)):
        work()
    ours(random_case(60, 80, 3), 2, n_modes=4)()


def status(field: str) -> int:
    """A line of /proc/self/status, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field + ":")) * 1024


def peak_memory(program: str, height: int, width: int, n_labels: int) -> int:
    """Most bytes that one solution takes beyond its input; to be called in a process of its own."""
    solve = {"peer": peer, "ours": lambda case: ours(case, 2), "drop-in": lambda case: drop_in(case, 2)}[program]
    solve(random_case(20, 30, n_labels))()  # programs loaded and compiled
    work = solve(random_case(height, width, n_labels))
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = status("VmRSS")
    work()
    return status("VmHWM") - before


def in_process(code: str, **environment: str) -> tuple[float, str]:
    """Wall time and output of a fresh interpreter."""
    started = time.perf_counter()
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, check=True, env=os.environ | environment, capture_output=True, text=True)
    return time.perf_counter() - started, done.stdout


# ---------------------------------------------------------------- the table


def speed(quick: bool) -> None:
    """500x375x21 smooth random scores, ten iterations."""
    case = random_case(375, 500, 21)
    programs = {"mf.mean_field, 1 thread": ours(case, 1), "mf.mean_field, 2 threads": ours(case, 2)}
    if importlib.util.find_spec("mixfield.pydensecrf") is None:
        print("  (mixfield.pydensecrf is not there: no rows for the drop-in)")
    else:
        programs |= {"drop-in, 1 thread": drop_in(case, 1), "drop-in, 2 threads": drop_in(case, 2)}
    base, *times = medians([peer(case), *programs.values()], 3 if quick else 15)
    print(f"  {'pydensecrf':28s} {base}")
    for name, taken in zip(programs, times, strict=True):
        gain = base.over(taken)
        promise = "2.5x, ambition 4x" if "1 thread" in name else "4x, ambition 8x"
        print(f"  {name:28s} {taken}   {gain.wall:.2f}x faster, {gain.cpu:.2f}x in processors (at least {promise})")
    theirs, own = (np.asarray(work()) for work in (peer(case), ours(case, 2)))
    same = (theirs.argmax(0) == own.reshape(-1, 21).argmax(1)).mean()
    print(f"  the same label at {100 * same:.2f} % of the pixels")


def real(quick: bool) -> None:
    """Photographs with scores, DeepLab kernels, active labels: ten updates, and the default run to convergence."""
    ways = {"10 updates": ITERATIONS, "to convergence": None}
    gains: dict[tuple[str, int], list[Taken]] = {(way, threads): [] for way in ways for threads in (1, 2)}
    kept = []
    for case in real_cases(3 if quick else 8):
        works = [ours(case, threads, ways[way]) for way, threads in gains]
        base, *times = medians([peer(case), *works], 1 if quick else 3)
        for found, taken in zip(gains.values(), times, strict=True):
            found.append(base.over(taken))
        kept.append(np.asarray(ours(case, 2)()).any(axis=(0, 1)).sum())
    if not kept:
        print(f"  (no photographs in {DATA})")
        return
    print(f"  {len(kept)} photographs, {np.median(kept):.0f} of 21 labels active (median)")
    promises = {"10 updates": "8x, ambition 20x", "to convergence": "5x, ambition 8x"}
    for (way, threads), found in gains.items():
        gain, single = middle(found), ", ".join(f"{gain.wall:.1f}" for gain in found)
        print(
            f"  {way}, {threads} threads: {gain.wall:.2f}x faster than its 10 iterations, {gain.cpu:.2f}x in "
            f"processors (at least {promises[way]}); single photographs {single}"
        )


def modes(quick: bool) -> None:
    """Several modes against one run of pydensecrf, 2 threads."""
    for n_modes, count, promise in ((4, 1 if quick else 6, "1, ambition .7"), (32, 1 if quick else 3, "6, ambition 4")):
        ratios: list[Taken] = []
        found: list[int] = []
        for case in real_cases(count):
            base = seconds(peer(case))
            infer = ours(case, 2, n_modes=n_modes)
            ratios.append(seconds(lambda infer=infer, found=found: found.append(len(infer().modes))).over(base))
        if not ratios:
            print(f"  (no photographs in {DATA})")
            return
        ratio = middle(ratios)
        print(
            f"  {n_modes:2d} modes: {ratio.wall:.2f} times one run of pydensecrf, {ratio.cpu:.2f} in processors "
            f"(at most {promise}); single photographs {', '.join(f'{r.wall:.2f}' for r in ratios)}; modes found {found}"
        )


def memory(quick: bool) -> None:
    """Peak memory beyond the input, one process each."""
    height, width = (375, 500) if quick else (750, 1000)
    programs = ["peer", "ours"] + ["drop-in"] * (importlib.util.find_spec("mixfield.pydensecrf") is not None)
    folder = str(Path(__file__).parent)
    peaks = {}
    for program in programs:
        code = f"import sys; sys.path.insert(0, {folder!r}); import dense; "
        code += f"print(dense.peak_memory({program!r}, {height}, {width}, 21))"
        # what was freed before goes back to the system, so that it is not taken for memory in use
        peaks[program] = int(in_process(code, MALLOC_MMAP_THRESHOLD_="65536", MALLOC_TRIM_THRESHOLD_="65536")[1])
    for program, peak in peaks.items():
        share = peak / peaks["peer"]
        print(f"  {program:8s} {peak / 1e6:8.1f} MB   {share:5.2f} of pydensecrf's (at most 1, ambition 0.5)")
    print(f"  {width}x{height}x21; the scores themselves take {4e-6 * height * width * 21:.1f} MB")


def growth(quick: bool) -> None:
    """Four times the pixels, 2 threads."""
    side = 250 if quick else 500
    small, large = random_case(side, side, 21), random_case(2 * side, 2 * side, 21)
    one, four, before, after = medians([ours(small, 2), ours(large, 2), peer(small), peer(large)], 1 if quick else 7)
    ratio = four.over(one)
    print(
        f"  {side**2 / 1000:.0f}k -> {4 * side**2 / 1000:.0f}k pixels: {ratio.wall:.2f} times the time, "
        f"{ratio.cpu:.2f} in processors (at most 4.5)"
    )
    print(f"  pydensecrf: {after.over(before).wall:.2f} times, {after.over(before).cpu:.2f} in processors")
    one, four = (medians([ours(case, 2)], 3 if quick else 7)[0] for case in (small, large))
    print(
        f"  one call after the other, where fresh memory costs less: {four.over(one).wall:.2f} times, "
        f"{four.over(one).cpu:.2f} in processors"
    )


def bandwidth(quick: bool) -> None:
    """Memory bandwidth of the machine, and the share that an iteration reaches."""
    source = np.ones(2**24 if quick else 2**26, np.float32)
    target = np.empty_like(source)
    rates = {}
    for threads in (1, 2):
        cuts = np.linspace(0, len(source), threads + 1).astype(int)
        parts = [(target[a:b], source[a:b]) for a, b in pairwise(cuts)]
        with ThreadPoolExecutor(threads) as pool:
            taken = medians([lambda pool=pool, parts=parts: list(pool.map(lambda p: np.copyto(*p), parts))], 7)[0].wall
        rates[threads] = 2 * source.nbytes / taken
        print(f"  copying, {threads} threads: {rates[threads] / 1e9:6.2f} GB/s")
    case = random_case(375, 500, 21)
    pixels, n_labels = case.unary.shape[0] * case.unary.shape[1], case.unary.shape[2]
    # probabilities in and out, costs in, and the six corners and weights around each pixel when splatting and slicing
    moved = pixels * (3 * 4 * n_labels + 2 * 6 * 8)
    for threads in (1, 2):
        few, many = medians([ours(case, threads), ours(case, threads, 3 * ITERATIONS)], 1 if quick else 3)
        each = (many.wall - few.wall) / (2 * ITERATIONS)
        share = moved / each / rates[threads]
        print(
            f"  one iteration at 500x375x21, {threads} threads: {1e3 * each:.1f} ms; the {moved / 1e6:.0f} MB that it "
            f"must move at least once make {100 * share:.0f} % of that bandwidth"
        )


FIRST = """
import time, numpy as np, mixfield as mf
rng = np.random.default_rng(0)
probs, ramp = rng.random((375, 500, 2)), np.linspace(0, 60, 500) + np.linspace(0, 120, 375)[:, None]
image = np.stack([ramp, 255 - ramp, ramp / 2], -1).astype(np.uint8)
started = time.perf_counter()
mf.mean_field(mf.DenseCRF.from_probabilities(probs, image), solver=mf.Solver(max_iterations=10))
print(time.time(), time.perf_counter() - started, time.process_time())
"""


def startup(quick: bool) -> None:
    """The first answer at 500x375x2, in a fresh process."""
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2 if quick else 6):
            begun = time.time()
            whole, out = in_process(FIRST, NUMBA_CACHE_DIR=folder)
            answered, *rest = map(float, out.split())
            figures.append((answered - begun, whole, *rest))
    for name, (first, whole, answer, cpu), promise in (
        ("after installation", figures[0], "15 s"),
        ("later processes", np.median(figures[1:], axis=0), "1 s"),
    ):
        print(
            f"  {name:18s} {first:6.2f} s from the start of the process to the answer (at most {promise}), "
            f"{answer:.2f} s for the answer itself; {whole:.2f} s to the end of the process, {cpu:.2f} s of processors"
        )


SECTIONS = (speed, real, modes, memory, growth, bandwidth, startup)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repetitions and smaller pictures")
    parser.add_argument("--only", default="", help="sections, separated by commas")
    options = parser.parse_args()
    if importlib.util.find_spec("pydensecrf") is None:
        parser.exit(2, "benchmarks/dense.py compares with pydensecrf: pip install pydensecrf2\n")
    known = {section.__name__: section for section in SECTIONS}
    chosen = options.only.split(",") if options.only else list(known)
    if unknown := set(chosen) - set(known):
        parser.exit(2, f"--only knows {', '.join(known)}, got {', '.join(sorted(unknown))}\n")
    warnings.simplefilter("ignore", UserWarning)  # ten iterations are not meant to converge
    print(f"mixfield {json.dumps({'cores': os.cpu_count(), 'load': os.getloadavg()})}")
    warm_up()
    for name in chosen:
        print(f"\n{name}: {known[name].__doc__}")
        known[name](options.quick)


if __name__ == "__main__":
    main()
