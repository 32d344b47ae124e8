"""``python tests/fuzz/run.py`` reads damaged files of every parser with a limit on time and memory per file.

    python tests/fuzz/run.py --files 10000 --jobs 2 --out findings
    python tests/fuzz/run.py --files 500 uai "scene.toml"

It prints a table: files, how many were read and refused, the most CPU seconds and megabytes that one file took, and
findings: errors that are not a `MixfieldError`, crashes, and files beyond `MAX_SECONDS` or `MAX_MEGABYTES`.  Files that
are findings are written to ``--out``; mend the parser and keep them in ``tests/fuzz/corpus/NAME/``.

The files of a parser are read by a process of their own, so that a crash or a loop ends only that process: it prints
the number of a file before it reads it, and one that is ended is started again with the next file.
"""

from __future__ import annotations

import argparse
import json
import resource
import select
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

sys.path[:0] = [str(folder) for folder in Path(__file__).parents[2:0:-1]]  # the checkout, then its tests

MAX_SECONDS = 2.0  # of CPU time per file
MAX_MEGABYTES = 500  # beyond the memory of the process before
MAX_WAIT = 120.0  # wall seconds per file, for a process that waits
HARD_LIMIT = 3 << 30  # bytes beyond the memory of the process before: then allocations fail

HEADS = ("file", "tried", "read", "refused", "worst CPU s", "worst MB", "findings")


@dataclass
class Result:
    """What happened to the files of one parser.

    Attributes
    ----------
    name : of the parser.
    read, refused : number of files.
    seconds, megabytes : the most of any file.
    findings : number of the file and what happened.
    """

    name: str
    read: int = 0
    refused: int = 0
    seconds: float = 0.0
    megabytes: float = 0.0
    findings: list[tuple[int, str]] = field(default_factory=list)

    @property
    def tried(self) -> int:
        return self.read + self.refused + len(self.findings)

    def add(self, number: int, outcome: str, seconds: float, megabytes: float) -> None:
        self.seconds, self.megabytes = max(self.seconds, seconds), max(self.megabytes, megabytes)
        if seconds > MAX_SECONDS or megabytes > MAX_MEGABYTES:
            outcome = f"{seconds:.1f} s, {megabytes:.0f} MB"
        if outcome == "read":
            self.read += 1
        elif outcome == "refused":
            self.refused += 1
        else:
            self.findings.append((number, outcome))

    def row(self) -> tuple[object, ...]:
        worst = f"{self.seconds:.2f}", f"{self.megabytes:.0f}"
        return self.name, self.tried, self.read, self.refused, *worst, len(self.findings)


def rows(files: int = 10_000, *, jobs: int = 1, names: Sequence[str] = ()) -> list[tuple[object, ...]]:
    """Rows of a table with the columns `HEADS`, one for each parser."""
    return [result.row() for result in results(files, jobs=jobs, names=names)]


def results(files: int, *, jobs: int = 1, names: Sequence[str] = (), seed: int = 0) -> Iterator[Result]:
    """Damaged files of each parser, or of those named."""
    from fuzz.parsers import PARSERS

    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(lambda name: run(name, files, seed), names or PARSERS)


def n_kept(name: str) -> int:
    """Number of hostile files and earlier findings of a parser."""
    from fuzz.bombs import BOMBS

    return len(BOMBS.get(name, ())) + len(_known(name))


def _known(name: str) -> list[Path]:
    from fuzz.parsers import CORPUS

    return sorted((CORPUS / name.replace(" ", "_")).glob("*"))


def contents(name: str, number: int, seed: int = 0) -> bytes:
    """The file of this number: the hostile files and earlier findings of the parser first, then damaged ones."""
    from fuzz.bombs import BOMBS
    from fuzz.damage import damaged
    from fuzz.parsers import PARSERS

    kept = [*BOMBS.get(name, ()), *(path.read_bytes for path in _known(name))]
    if number < len(kept):
        return kept[number]()
    return damaged(PARSERS[name].seeds(), np.random.default_rng([seed, zlib.crc32(name.encode()), number]))


def run(name: str, files: int, seed: int = 0, program: Sequence[str] = (__file__,)) -> Result:
    """Start processes until all files of a parser have been tried.

    ``program`` are the arguments of Python that run `main`.
    """
    result, first = Result(name), 0
    while first < files:
        command = [sys.executable, *program, "--worker", name, "--files", str(files), "--first", str(first)]
        command += ["--seed", str(seed)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            started, ended = first - 1, False
            while not ended and (line := _line(process)):
                message = json.loads(line)
                if "number" in message:
                    started = message["number"]
                else:
                    result.add(started, message["outcome"], message["seconds"], message["megabytes"])
                    first, ended = started + 1, started + 1 == files
            process.kill()
        if not ended:
            if started < first:
                raise RuntimeError(f"the process for {name} does not start: run it with --worker {name!r}")
            result.findings.append((started, _death(process.returncode)))
            first = started + 1
    return result


def _line(process: subprocess.Popen[str]) -> str:
    """The next line of a process; empty if it has ended or says nothing for `MAX_WAIT` seconds."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], MAX_WAIT)
    return process.stdout.readline() if ready else ""


def _death(code: int) -> str:
    if code == -signal.SIGPROF:
        return f"more than {MAX_SECONDS} s"
    return f"more than {MAX_WAIT} s of waiting" if code == -signal.SIGKILL else f"the process ended with {code}"


def work(name: str, first: int, files: int, seed: int) -> None:
    """Read files and print, as JSON, the number of each before and the outcome after."""
    from fuzz.parsers import PARSERS, attempt

    parser = PARSERS[name]
    for content in parser.seeds():  # compiles and imports what is needed
        attempt(parser, content)
    before = _memory("VmRSS")
    resource.setrlimit(resource.RLIMIT_AS, (_memory("VmSize") * 1024 + HARD_LIMIT,) * 2)
    for number in range(first, files):
        content = contents(name, number, seed)
        print(json.dumps({"number": number}), flush=True)
        Path("/proc/self/clear_refs").write_text("5")  # resets the peak of the memory
        signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS + 0.5)  # ends the process
        started = time.process_time()
        try:
            outcome = attempt(parser, content)
        except Exception as error:  # a finding, whatever it is
            outcome = f"{type(error).__name__}: {error}"[:200]
        seconds = time.process_time() - started
        signal.setitimer(signal.ITIMER_PROF, 0)
        megabytes = (_memory("VmHWM") - before) / 1024
        print(json.dumps({"outcome": outcome, "seconds": seconds, "megabytes": megabytes}), flush=True)


def _memory(field: str) -> int:
    """Kilobytes of this process, a field of /proc/self/status."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise KeyError(field)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parsers; all by default")
    parser.add_argument("--files", type=int, default=10_000, help="of each parser")
    parser.add_argument("--jobs", type=int, default=1, help="parsers at a time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="folder for the files that are findings")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker, options.first, options.files, options.seed)
        return 0
    found = 0
    print(f"| {' | '.join(HEADS)} |\n|{' --- |' * len(HEADS)}")
    for result in results(options.files, jobs=options.jobs, names=options.names, seed=options.seed):
        print(f"| {' | '.join(map(str, result.row()))} |", flush=True)
        found += len(result.findings)
        for number, what in result.findings:
            print(f"{result.name}, file {number}: {what}", file=sys.stderr, flush=True)
            if options.out is not None:
                options.out.mkdir(parents=True, exist_ok=True)
                path = options.out / f"{result.name.replace(' ', '_')}-{number}"
                path.write_bytes(contents(result.name, number, options.seed))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
