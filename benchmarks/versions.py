"""Two versions of mixfield side by side: are the answers the same, and is anything slower?

    python benchmarks/versions.py --old OLD/bin/python --new NEW/bin/python [--answers] [--speed] [--rounds 7]
        [--only KSP]

Each version is an interpreter that has mixfield installed; ``--old-src`` and ``--new-src`` name a source folder that is
imported instead of the installed one.  Without ``--answers`` or ``--speed``, both are done.  The inputs are prepared
once, by the old interpreter with Pillow and OpenCV; then `version_cases.py` runs in both versions on the same arrays.

Answers: labels must be equal, except where the old version gives both labels the same probability within 1e-4, and the
log_z of every mode must agree to 1e-6 (relative).  Modes are compared in the order of log_z.  Posteriors saved by the
old version must load in the new one.  The exit code is 1 if anything differs.

Speed: each round starts a process of each version; both compile first, then take turns call by call, and the fastest
call of each counts.  The table shows medians over the rounds of the ratio new / old, with the quartiles in brackets.
CPU time counts all threads and is steadier than wall time on a shared machine.  Medians above 1.05 are marked, as noisy
where the lower quartile is not above 1; they do not change the exit code.

Photographs, UAI models and footage come from ../shared/data beside the checkout, or from MIXFIELD_DATA, as in the
tests; what needs them is skipped where they are absent, and the output says so.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

CASES = Path(__file__).resolve().with_name("version_cases.py")

TIE = 1e-4  # labels whose probabilities differ by no more are equally good
AGREE = 1e-6  # relative difference of log_z
SLOWER = 1.05  # a ratio of times above this is marked
CALLS = 3  # per version and round, of which the fastest counts

# what is known of an answer of 0.2.0 that differs from that of 0.1.0, printed with it
TRACKS = (
    "0.2.0 has a price of motion and a largest speed that is the same in all directions. Before these, the cost agreed "
    "to 1.1e-6, and solved to 1e-6 to 1.6e-10."
)
EXPLAINED = {
    "grid 7": "0.2.0 also starts from the minimum cut of an attractive field, which raises the bound by .008 nats.",
    "model Promedus_12": "0.2.0 draws states of factors of many binary variables by their labels, with other random "
    "numbers; over seeds 0 to 3 the bound with the default search is -16.5 on average, and was -16.9.",
    "track": TRACKS,
    "track, solved to 1e-6": TRACKS,
}

FRESH = {
    "fresh process, import": "import mixfield",
    "fresh process, first grid": "import mixfield as mf; mf.infer(mf.datasets.random_ising(13), 4)",
    "fresh process, first dense field": "import numpy as np, mixfield as mf; r = np.random.default_rng(0); "
    "mf.mean_field(mf.DenseCRF.from_probabilities(r.random((60, 80, 2)), r.integers(0, 255, (60, 80, 3), np.uint8)))",
}

# ---------------------------------------------------------------- two versions


@dataclass(frozen=True)
class Version:
    """An interpreter, and the folder of the sources if not the installed ones."""

    name: str
    python: str
    source: str | None

    def start(self, *arguments: str | Path) -> subprocess.Popen[str]:
        """A process in which this version is imported; only errors go to the terminal."""
        command = [self.python, "-P", "-W", "ignore", *map(str, arguments)]
        environment = os.environ | {"PYTHONPATH": self.source or ""}
        return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, *arguments: str | Path) -> str:
        """Output of such a process."""
        process = self.start(*arguments)
        output, _ = process.communicate()
        if process.returncode:
            sys.exit(f"the {self.name} version failed at {' '.join(map(str, arguments))}; its error stands above")
        return output

    def about(self) -> str:
        """Number and place, which must be the place that was asked for."""
        code = "import mixfield as mf; print(mf.__version__, mf.__file__, sep='\\n')"
        number, place = self.run("-c", code).splitlines()
        if self.source is not None and Path(self.source).resolve() not in Path(place).resolve().parents:
            sys.exit(f"{self.name}: mixfield is imported from {place}, not from {self.source}")
        return f"{self.name}: mixfield {number}, {place}"


Versions = tuple[Version, Version]  # old, new
Seconds = np.ndarray  # (2, 2): old and new, CPU and wall


# ---------------------------------------------------------------- answers


def compare_answers(versions: Versions, inputs: Path, output: Path) -> bool:
    """Print the table of answers; whether all of them are the same."""
    folders = [output / version.name for version in versions]
    for version, folder in zip(versions, folders, strict=True):
        folder.mkdir()
        version.run(CASES, "answers", inputs, folder, folders[0])
    names = json.loads((folders[0] / "cases.json").read_text())
    rows = [compared(*(folder / f"{name}.npz" for folder in folders)) for name in names]
    print("| item | different labels | not near-ties | largest relative difference of log_z | verdict |")
    print("|---|---|---|---|---|")
    for name, (text, _) in zip(names, rows, strict=True):
        print(f"| {name} | {text} |")
    failed = [name for name, (_, same) in zip(names, rows, strict=True) if not same]
    print(f"\n{len(rows)} answers, {len(failed)} differ\n", flush=True)
    for name in failed:
        print(f"{name}: {EXPLAINED.get(name, 'not explained')}\n", flush=True)
    return not failed


def compared(old_file: Path, new_file: Path) -> tuple[str, bool]:
    """The columns of one answer, and whether it is the same."""
    missing = [file.parent.name for file in (old_file, new_file) if not file.is_file()]
    if missing:
        return f"| | | NO ANSWER from {' and '.join(missing)}", False
    old, new = dict(np.load(old_file)), dict(np.load(new_file))
    if old["labels"].shape != new["labels"].shape:
        return f"| | | DIFFERENT modes or variables: {old['labels'].shape}, {new['labels'].shape}", False
    differ = old["labels"] != new["labels"]
    serious = differ & ~near_ties(old["marginals"], old["labels"], new["labels"])
    apart = relative_difference(old["log_z"], new["log_z"])
    same = not serious.any() and apart <= AGREE  # false for NaN
    return f"{differ.sum()} | {serious.sum()} | {apart:.1e} | {'same' if same else 'DIFFERENT'}", same


def near_ties(marginals: np.ndarray, old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """(K, n) where two labels have nearly the same probability; nowhere for answers without marginals."""
    if marginals.size == 0:
        return np.zeros(old.shape, bool)
    a, b = (np.take_along_axis(marginals, labels[..., None], -1)[..., 0] for labels in (old, new))
    return np.abs(a - b) <= TIE


def relative_difference(old: np.ndarray, new: np.ndarray) -> float:
    """The largest; equal infinities do not differ."""
    with np.errstate(all="ignore"):
        relative = np.where(old == new, 0.0, np.abs(old - new) / np.abs(old))
    return float(relative.max(initial=0.0))


# ---------------------------------------------------------------- speed


def compare_speed(versions: Versions, inputs: Path, rounds: int, only: str) -> None:
    """Print the table of times of the workloads whose names contain ``only``."""
    for version in versions:
        for name, code in FRESH.items():
            if only in name:
                version.run("-c", code)  # fills the cache of compiled code
    taken: dict[str, list[Seconds]] = {}
    for k in range(rounds):
        for name, seconds in (workload_times(versions, inputs, k, only) | fresh_times(versions, k, only)).items():
            taken.setdefault(name, []).append(seconds)
    print("| workload | old, CPU s | new, CPU s | CPU, new / old | wall, new / old | above 1.05 |")
    print("|---|---|---|---|---|---|")
    for name, each in taken.items():
        seconds = np.array(each)  # (rounds, version, CPU or wall)
        quartiles = np.quantile(seconds[:, 1] / seconds[:, 0], (0.25, 0.5, 0.75), axis=0).T
        ratios = " | ".join(f"{middle:.3f} [{low:.3f}, {high:.3f}]" for low, middle, high in quartiles)
        before, after = np.median(seconds[..., 0], axis=0)
        print(f"| {name} | {before:.4f} | {after:.4f} | {ratios} | {marks(quartiles)} |")


def marks(quartiles: np.ndarray) -> str:
    """Which of CPU and wall time is slower; doubtful where a quarter of the rounds say the opposite."""
    slower = [
        f"{kind}{' (noisy)' if low <= 1 else ''}"
        for kind, (low, middle, _) in zip(("CPU", "wall"), quartiles, strict=True)
        if middle > SLOWER
    ]
    return " and ".join(slower)


def workload_times(versions: Versions, inputs: Path, k: int, only: str) -> dict[str, Seconds]:
    """One round: a process of each version, calls in turns, the fastest of `CALLS`."""
    processes = [version.start(CASES, "speed", inputs, only) for version in versions]
    names, _ = (json.loads(reply(process)) for process in processes)
    found = {}
    for name in names:
        calls = np.empty((CALLS, 2, 2))
        for call in range(CALLS):
            for v in in_turn(k + call):
                calls[call, v] = json.loads(reply(processes[v], name))
        found[name] = calls.min(0)
    for process in processes:
        process.communicate()
    return found


def reply(process: subprocess.Popen[str], request: str = "") -> str:
    """A line of output, after a line of input if there is one."""
    assert process.stdin is not None
    assert process.stdout is not None
    if request:
        print(request, file=process.stdin, flush=True)
    line = process.stdout.readline()
    if not line:
        sys.exit(f"a process ended before its answer to {request or 'the list of workloads'}; its error stands above")
    return line


def fresh_times(versions: Versions, k: int, only: str) -> dict[str, Seconds]:
    """Processes from their start to their end; one round, the fastest of `CALLS`."""
    found = {}
    for name, code in FRESH.items():
        if only not in name:
            continue
        calls = np.empty((CALLS, 2, 2))
        for call in range(CALLS):
            for v in in_turn(k + call):
                before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
                versions[v].run("-c", code)
                wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
                calls[call, v] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall
        found[name] = calls.min(0)
    return found


def in_turn(k: int) -> tuple[int, int]:
    """Each version goes first every other time."""
    return (0, 1) if k % 2 == 0 else (1, 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("old", "new"):
        parser.add_argument(f"--{name}", required=True, help=f"interpreter of the {name} version")
        parser.add_argument(f"--{name}-src", help="folder of sources to import instead of the installed ones")
    parser.add_argument("--answers", action="store_true", help="only compare answers")
    parser.add_argument("--speed", action="store_true", help="only compare times")
    parser.add_argument("--rounds", type=int, default=7, help="of the comparison of times")
    parser.add_argument("--only", default="", help="times of workloads whose names contain this")
    options = parser.parse_args()
    versions = Version("old", options.old, options.old_src), Version("new", options.new, options.new_src)
    print(*(version.about() for version in versions), "", sep="\n")
    same = True
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder) / "inputs"
        inputs.mkdir()
        print(versions[0].run(CASES, "prepare", inputs), end="", flush=True)
        if options.answers or not options.speed:
            same = compare_answers(versions, inputs, Path(folder))
        if options.speed or not options.answers:
            compare_speed(versions, inputs, options.rounds, options.only)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
