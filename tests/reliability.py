"""Try every fault and every kind of damaged file, and write docs/reliability.md.

    PYTHONPATH=. python tests/reliability.py

Counts can be given: ``--kills 100 --files 10000 --items 10000 --rounds 8``, and ``--guided 5`` seconds of
coverage-guided fuzzing for each parser, where atheris installs.  Mutants take hours: ``python tests/mutants.py`` writes
their results to tests/mutants.json, and the page has them if the file exists.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import date
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from faults.driver import engine_of
from faults.results import driven, images, kill_until_done, recorded, run, segment, tree, video
from faults.shared_objects import SHARED, THREADS, wrong_answers
from fuzz.parsers import PARSERS
from fuzz.run import HEADS, MAX_MEGABYTES, MAX_SECONDS, rows
from mutants import RESULTS, summary

import mixfield as mf
from mixfield import batch

ROOT = Path(__file__).parents[1]

ENGINES = ("serial", "processes", "dask")

FAULTS = {
    "kills": "killed and interrupted processes",
    "cluster": "workers and schedulers that disappear",
    "outside": "disks, deleted folders and bad inputs",
    "installs": "installations that cannot be written",
}

Row = tuple[object, ...]


def kills(what: str, command, items: int, wanted: int, rng: np.random.Generator) -> Row:
    """Kill -9 a driver, again and again, and compare with an undisturbed run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        assert run(command(folder / "whole")).returncode == 0
        done = runs = lost = twice = differ = 0
        while done < wanted:
            out = folder / f"run{runs}"
            done += kill_until_done(command(out), out, items, rng)
            runs += 1
            found = recorded(out)
            lost += items - len(found)
            twice += sum(found.values()) - len(found)
            differ += tree(out) != tree(folder / "whole")
    return what, done, f"{runs} of {items} items", lost, twice, differ


def overhead(engine: str, items: int) -> Row:
    """Time and memory that tiny items cost."""
    with tempfile.TemporaryDirectory() as folder:
        started, early = time.perf_counter(), 0
        todo = [batch.Item(str(k), k) for k in range(items)]
        for k, outcome in enumerate(batch.map(touch, todo, Path(folder), engine=engine_of(engine)), 1):
            assert outcome.failure is None
            early = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss if k == items // 10 else early
        spent = 1000 * (time.perf_counter() - started) / items
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - early) / 1024
    return engine, items, f"{spent:.2f} ms", f"{grown:.1f} MB"


def touch(number, folder):
    (folder / str(number)).write_text(str(number))


def guided(name: str, seconds: int) -> Row:
    """Coverage-guided fuzzing of one parser: inputs tried, places of the code reached, findings."""
    with tempfile.TemporaryDirectory() as folder:
        words = [ROOT / "tests" / "fuzz" / "guided.py", name, f"-max_total_time={seconds}", "-print_final_stats=1"]
        done = run([sys.executable, *map(str, words)], cwd=folder)
        found = len(list(Path(folder).glob("crash-*"))) + len(list(Path(folder).glob("timeout-*")))
    tried = re.search(r"number_of_executed_units: (\d+)", done.stderr)
    reached = re.findall(r"cov: (\d+)", done.stderr)
    if tried is None:
        raise RuntimeError(done.stderr)
    return name, tried[1], reached[0], reached[-1], found


def tests(*paths: str) -> list[Row]:
    """The outcome of tests, by name: cases, and how many of them held."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        words = ["-m", "pytest", "-q", f"--junitxml={report}", *paths]
        subprocess.run([sys.executable, *words], cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
        cases, held, skipped = Counter(), Counter(), Counter()
        for case in ElementTree.parse(report).iter("testcase"):
            name = case.get("name", "").partition("[")[0].removeprefix("test_").replace("_", " ")
            cases[name] += 1
            skipped[name] += case.find("skipped") is not None
            held[name] += len(case) == 0
    return [(name, count - skipped[name], held[name], skipped[name]) for name, count in cases.items()]


def guided_section(seconds: int) -> list[str]:
    if not seconds or importlib.util.find_spec("atheris") is None:
        return []
    rows = [guided(name, seconds) for name in PARSERS]
    text = (
        f"The same parsers for {seconds} s each under atheris, which looks for inputs that reach new places of the "
        "code (`tests/fuzz/guided.py`).\n"
    )
    return [text, table(("file", "tried", "places at first", "places at the end", "findings"), rows)]


def table(heads: Row, rows: list[Row]) -> str:
    lines = [heads, ("---",) * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines) + "\n"


def killed_section(wanted: int, rng: np.random.Generator) -> list[str]:
    tenth = -(-wanted // 10)
    with tempfile.TemporaryDirectory() as folder:
        pictures, scores = images(Path(folder), 6)
        found = [
            kills("cheap items, serial", lambda out: driven(out, "serial", 40), 40, 3 * tenth, rng),
            kills("cheap items, two workers", lambda out: driven(out, "processes", 40), 40, 3 * tenth, rng),
            kills("cheap items, two workers of Dask", lambda out: driven(out, "dask", 40), 40, tenth, rng),
            kills(
                "`mixfield segment --workers 2`",
                lambda out: segment(pictures, scores, out, "--workers", 2),
                6,
                2 * tenth,
                rng,
            ),
            kills("`mixfield video`", lambda out: video(pictures, scores, out), 6, tenth, rng),
        ]
    return [
        "## Drivers killed at random points\n",
        f"kill -9 at a random time, the same command again, until it ends: {sum(int(str(row[1])) for row in found)} "
        "kills. Lost items are in no manifest, those done twice in it two times, and runs that differ have other bytes "
        "than an undisturbed one.\n",
        table(("what was killed", "kills", "runs", "lost items", "done twice", "runs that differ"), found),
    ]


def faults_section() -> list[str]:
    parts = ["## Other faults\n", "Real processes, clusters and disks; each row is a test in `tests/faults`.\n"]
    for file, what in FAULTS.items():
        parts.append(table((what, "cases", "held", "skipped"), tests(f"tests/faults/test_{file}.py")))
    return parts


def threads_section(rounds: int) -> list[str]:
    found = [(name, *wrong_answers(name, rounds)) for name in SHARED]
    return [
        "## Threads\n",
        f"{THREADS} threads call the same object at the same time; an answer is wrong if one of its bytes differs from "
        "that of a call alone. The drop-in object of 0.1.0 had 19 wrong answers of 64.\n",
        table(("object and call", "calls", "wrong answers"), found),
    ]


def damaged_section(files: int, seconds: int) -> list[str]:
    return [
        "## Damaged files\n",
        "Well-formed files with random damage, hostile files and earlier findings (`tests/fuzz`): each is read, or "
        f"refused with a sentence, in at most {MAX_SECONDS:.0f} s of CPU time and {MAX_MEGABYTES} MB. Anything else "
        "is a finding.\n",
        table(HEADS, rows(files, jobs=os.cpu_count() or 1)),
        *guided_section(seconds),
        table(("safety of input", "cases", "held", "skipped"), tests("tests/fuzz")),
    ]


def mutants_section() -> list[str]:
    if not RESULTS.exists():
        return []
    found, survivors = summary()
    total, dead = sum(row[1] for row in found), sum(row[2] + row[3] for row in found)
    return [
        "## Mutants\n",
        f"One changed expression at a time, and the tests of its module (`tests/mutants.py`): {dead} of {total} were "
        f"noticed, {dead / total:.0%}.\n",
        table(("package", "mutants", "test failed", "timed out", "survived"), found),
        table(("survivor", "change", "reason"), [_survivor(mutant) for mutant in survivors]),
    ]


def _survivor(mutant: dict[str, str]) -> Row:
    change = f"`{mutant['before']}` to `{mutant['after']}`".replace("|", "\\|")
    return f"{mutant['package']}/{mutant['module']}.py:{mutant['line']}", change, mutant["reason"]


def page(options: argparse.Namespace) -> str:
    parts = [
        "# Reliability\n",
        f"`PYTHONPATH=. python tests/reliability.py` made this page on {date.today()}: mixfield {mf.__version__}, "
        f"Python {platform.python_version()}, numpy {np.__version__}, {platform.system()}, "
        f"{os.cpu_count()} cores at a load of {os.getloadavg()[0]:.0f}.\n",
        *killed_section(options.kills, np.random.default_rng(options.seed)),
        *faults_section(),
        *threads_section(options.rounds),
        "## Many tiny items\n",
        "Wall time per item, with the start of the workers, and memory of the driver from a tenth of the items to the "
        "last.\n",
        table(("engine", "items", "per item", "memory"), [overhead(e, options.items) for e in ENGINES]),
        *damaged_section(options.files, options.guided),
        "## Numbers at their limits\n",
        "Right, or refused with a sentence, and never NaN: `tests/stress`.\n",
        table(("numbers", "cases", "held", "skipped"), tests("tests/stress")),
        *mutants_section(),
    ]
    return "\n".join(parts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    counts = {"kills": 100, "files": 10_000, "items": 10_000, "rounds": 8, "guided": 5, "seed": 0}
    for name, count in counts.items():
        parser.add_argument(f"--{name}", type=int, default=count)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "reliability.md")
    options = parser.parse_args()
    options.out.write_text(page(options), encoding="utf-8")
