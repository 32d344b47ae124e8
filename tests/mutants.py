"""Mutation testing: change one expression of a module, run the module's test file, count the changes it notices.

``python tests/mutants.py --count 60 --seed 1 --out mutants.json`` draws a sample for each package. Each mutant is
written into a temporary copy of ``src`` and tested with ``tests/unit/<package>/test_<module>.py``; the mutants of
``mixture`` and ``solvers`` that this file misses are tested with the property tests too. ``summary`` reads the result.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, replace
from pathlib import Path

from mutations import ROOT, Mutant, sample

RESULTS = ROOT / "tests" / "mutants.json"
PACKAGES = ("constraints", "mixture", "solvers", "batch", "reports")
ALL = 1_000_000
SECOND_TESTS = {
    "mixture": ["tests/properties/test_properties.py"],
    "solvers": ["tests/properties/test_properties.py", "tests/properties/test_dense_properties.py"],
}
PRELOADED = ("numpy", "numba", "scipy.sparse", "scipy.fft", "scipy.ndimage", "PIL.Image", "pytest")


def _start(copy_of_src: Path, tests: list[str], log: Path) -> int:
    """The process id of a forked pytest run; numpy, Numba and SciPy are imported already."""
    pid = os.fork()
    if pid:
        return pid
    os.setsid()
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.environ |= {"PYTHONPATH": f"{copy_of_src}{os.pathsep}{ROOT / 'tests'}", "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(copy_of_src))
    os.chdir(ROOT)
    import pytest

    code = 4  # of pytest, for its own errors
    try:
        code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--no-header", *tests]))
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    os._exit(code)


def _wait(pid: int, seconds: float) -> int | None:
    """The exit code of ``pid``, or None after ``seconds``; its process group is stopped in either case."""
    end, code = time.monotonic() + seconds, None
    while code is None and time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        code = os.waitstatus_to_exitcode(status) if done else time.sleep(0.05)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    if code is None:
        os.waitpid(pid, 0)
    return code


def outcome(mutant: Mutant, copy_of_src: Path, seconds: float) -> str:
    """Run the tests on ``mutant``: killed, survived or timed out."""
    path = copy_of_src / "mixfield" / mutant.package / f"{mutant.module}.py"
    original, log = path.read_bytes(), copy_of_src / "log.txt"
    path.write_text(mutant.source, encoding="utf-8")
    try:
        for tests in ([f"tests/unit/{mutant.package}/test_{mutant.module}.py"], SECOND_TESTS.get(mutant.package)):
            code = _wait(_start(copy_of_src, tests, log), seconds) if tests else 0
            if code != 0:
                return "timed out" if code is None else "not run" if code in (4, 5) else "killed"
    finally:
        path.write_bytes(original)
    return "survived"


_copy = Path()  # of src, one for each process of the pool


def _prepare(folder: str) -> None:
    """Copy ``src`` with its dates, so that Numba's cache stays valid."""
    global _copy
    _copy = Path(tempfile.mkdtemp(dir=folder))
    shutil.copytree(ROOT / "src" / "mixfield", _copy / "mixfield")


def _judged(task: tuple[Mutant, float]) -> Mutant:
    return replace(task[0], outcome=outcome(task[0], _copy, task[1]))


def _unchanged(mutants: list[Mutant]) -> list[Mutant]:
    """Each module of ``mutants`` without a change; its tests have to pass."""
    modules = sorted({(m.package, m.module) for m in mutants})
    paths = [ROOT / "src" / "mixfield" / package / f"{module}.py" for package, module in modules]
    sources = [ast.unparse(ast.parse(path.read_text(encoding="utf-8"))) for path in paths]
    return [Mutant(*names, 0, "none", "", "", source) for names, source in zip(modules, sources, strict=True)]


def run(mutants: list[Mutant], *, seconds: float, processes: int) -> list[Mutant]:
    """The mutants with their outcomes, printed as they come."""
    import multiprocessing

    for name in PRELOADED:
        __import__(name)
    judged = []
    fork = multiprocessing.get_context("fork")  # an executor: workers of a Pool could not start processes in tests
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(processes, fork, _prepare, (folder,)) as pool:
        for done in as_completed([pool.submit(_judged, (m, seconds)) for m in mutants]):
            judged.append(done.result())
            print(_line(judged[-1]), flush=True)  # noqa: T201
    return judged


def _line(m: Mutant) -> str:
    return f"{m.outcome:9} {m.package}/{m.module}.py:{m.line} {m.kind}: {m.before}  ->  {m.after}"


def summary(path: Path = RESULTS) -> tuple[list[tuple[str, int, int, int, int]], list[dict[str, str]]]:
    """Rows of package, mutants, killed, timed out, survived; and the survivors with their reasons."""
    every = json.loads(path.read_text(encoding="utf-8"))
    rows = []
    for package in PACKAGES:
        found = Counter(m["outcome"] for m in every if m["package"] == package)
        rows.append((package, found.total(), found["killed"], found["timed out"], found["survived"]))
    return rows, [m for m in every if m["outcome"] == "survived"]


def _save(judged: list[Mutant], path: Path) -> None:
    """Write the outcomes as JSON; reasons written into the last file by hand are kept."""
    old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    reasons = {(m["module"], m["before"], m["after"]): m["reason"] for m in old}
    judged = [replace(m, source="", reason=reasons.get((m.module, m.before, m.after), "")) for m in judged]
    rows = [{k: v for k, v in asdict(m).items() if k != "source"} for m in judged]
    rows.sort(key=lambda m: (PACKAGES.index(m["package"]), m["module"], m["line"], m["after"]))
    path.write_text("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n", encoding="utf-8")


def _chosen(options: argparse.Namespace) -> tuple[list[Mutant], list[Mutant]]:
    """The mutants to test, and those of the last results that are kept."""
    count = ALL if options.survivors else options.count
    mutants = [m for package in options.packages for m in sample(package, count, options.seed)]
    if options.unchanged:
        return _unchanged(mutants), []
    if not options.survivors:
        return mutants, []
    done = [Mutant(source="", **row) for row in json.loads(options.out.read_text(encoding="utf-8"))]
    survivors = {replace(m, outcome="", reason="") for m in done if m.outcome == "survived"}
    return [m for m in mutants if replace(m, source="") in survivors], [m for m in done if m.outcome != "survived"]


def main() -> None:
    """Draw, test and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=50, help="mutants of each package")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--packages", nargs="+", default=PACKAGES, choices=PACKAGES)
    parser.add_argument("--seconds", type=float, default=120.0, help="time limit of one test file")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--survivors", action="store_true", help="only test the survivors of the last results again")
    parser.add_argument("--unchanged", action="store_true", help="only check that the modules pass without a change")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    mutants, done = _chosen(options)
    judged = run(mutants, seconds=options.seconds, processes=options.processes)
    if not options.unchanged:
        _save([*done, *judged], options.out)
        for row in summary(options.out)[0]:
            print("{:12} mutants {:4}  killed {:4}  timed out {:3}  survived {:3}".format(*row))  # noqa: T201


if __name__ == "__main__":
    main()
