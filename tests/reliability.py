"""``python tests/reliability.py`` tries every fault and every kind of damaged file and writes docs/reliability.md.

Counts can be given: ``--kills 100 --files 500 --items 10000``, and ``--guided 5`` seconds of coverage-guided fuzzing
for each parser, where atheris installs.
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
from fuzz.parsers import PARSERS, attempt, mutated

import mixfield as mf
from mixfield import batch

ROOT = Path(__file__).parents[1]

ENGINES = ("serial", "processes", "dask")

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


def damaged(name: str, count: int, rng: np.random.Generator) -> Row:
    """Damaged files of one kind."""
    parser, found, seeds = PARSERS[name], Counter(), PARSERS[name].seeds()
    for _ in range(count):
        try:
            found[attempt(parser, mutated(seeds, rng))] += 1
        except Exception:  # a finding is counted, whatever it is
            found["else"] += 1
    return name, count, found["read"], found["refused"], found["else"]


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


def page(options: argparse.Namespace) -> str:
    rng = np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        pictures, scores = images(Path(folder), 6)
        tenth = -(-options.kills // 10)
        killed = [
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
    total = sum(int(str(row[1])) for row in killed)
    parts = [
        "# Reliability\n",
        f"`python tests/reliability.py` made this page on {date.today()}: mixfield {mf.__version__}, Python "
        f"{platform.python_version()}, numpy {np.__version__}, {platform.system()}, "
        f"{os.cpu_count()} cores at a load of {os.getloadavg()[0]:.0f}.\n",
        "## Drivers killed at random points\n",
        f"kill -9 at a random time, the same command again, until it ends: {total} kills. Lost items are in no "
        "manifest, those done twice in it two times, and runs that differ have other bytes than an undisturbed one.\n",
        table(("what was killed", "kills", "runs", "lost items", "done twice", "runs that differ"), killed),
        "## Other faults\n",
        "Real processes and disks; each is a test in `tests/faults`.\n",
        table(("fault", "cases", "held", "skipped"), tests("tests/faults")),
        "## Many tiny items\n",
        "Wall time per item, with the start of the workers, and memory of the driver from a tenth of the items to the "
        "last.\n",
        table(("engine", "items", "per item", "memory"), [overhead(e, options.items) for e in ENGINES]),
        "## Damaged files\n",
        "Well-formed files with random damage (`tests/fuzz/parsers.py`): read all the same, or refused with a "
        "sentence. Anything else would be a finding; earlier findings are kept in `tests/fuzz/corpus`.\n",
        table(
            ("file", "tried", "read", "refused", "anything else"),
            [damaged(name, options.files, rng) for name in PARSERS],
        ),
        *guided_section(options.guided),
        table(("safety of input", "cases", "held", "skipped"), tests("tests/fuzz")),
        "## Numbers at their limits\n",
        "Right, or refused with a sentence, and never NaN: `tests/stress`.\n",
        table(("numbers", "cases", "held", "skipped"), tests("tests/stress")),
    ]
    return "\n".join(parts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, count in {"kills": 100, "files": 500, "items": 10_000, "guided": 5, "seed": 0}.items():
        parser.add_argument(f"--{name}", type=int, default=count)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "reliability.md")
    options = parser.parse_args()
    options.out.write_text(page(options), encoding="utf-8")
