"""The fuzz run: limits on time and memory are seen, and hostile files stay within them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from fuzz import run
from fuzz.bombs import BOMBS
from fuzz.damage import damaged, encoded, repeated
from fuzz.parsers import CORPUS, PARSERS

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")

BAD = {
    "loops": ("while True: pass", r"more than 2\.0 s"),
    "crashes": ("os.abort()", "the process ended with -6"),
    "allocates": ("np.ones(75_000_000)", r"\d+\.\d s, 5\d\d MB"),
    "takes all memory": ("np.ones(1 << 33)", "MemoryError: Unable to allocate"),
    "raises": ("1 / 0", "ZeroDivisionError: division by zero"),
    "says too much": ("raise MixfieldError('x' * 5000)", "Finding: a message of 5000 characters"),
    "hides its memory": ("hide()", "Finding: it took all memory"),
}

PROGRAM = """
import os, sys
sys.path.insert(0, {tests!r})
import numpy as np
from fuzz import parsers, run
from mixfield.errors import MixfieldError

def hide():
    try:
        np.ones(1 << 33)
    except MemoryError:
        raise MixfieldError("too large") from None

def read(path):
    if path.read_bytes() != b"good":
        {statement}

parsers.PARSERS["evidence"] = parsers.Parser("", read, lambda: [b"good"])
run.contents = lambda name, number, seed: b"bad" if number == 1 else b"good"
run.main()
"""


@pytest.mark.parametrize("kind", BAD)
def test_what_a_parser_must_not_do_is_a_finding(kind):
    statement, what = BAD[kind]
    program = PROGRAM.format(tests=str(Path(run.__file__).parents[1]), statement=statement)
    result = run.run("evidence", 4, program=("-c", program))
    assert (result.tried, result.read, len(result.findings)) == (4, 3, 1)
    ((number, found),) = result.findings
    assert number == 1
    assert re.match(what, found), found


def test_a_parser_that_reads():
    result = run.run("evidence", 20)
    assert (result.tried, result.findings) == (20, [])
    assert result.read > 0
    assert result.refused > 0
    assert len(result.row()) == len(run.HEADS)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*BOMBS, *(folder.name.replace("_", " ") for folder in CORPUS.iterdir())}))
def test_hostile_files_stay_within_the_limits(name):
    count = run.n_kept(name)
    result = run.run(name, count)
    assert result.findings == []
    assert result.tried == count > 0


@pytest.mark.parametrize("name", ["uai", "image png", "posterior"])
def test_damage_is_reproducible(name):
    seeds = PARSERS[name].seeds()
    one, two = ([damaged(seeds, np.random.default_rng(k)) for k in range(50)] for _ in range(2))
    assert one == two
    assert len(set(one)) > 40
    assert run.contents(name, 1000) == run.contents(name, 1000) != run.contents(name, 1001)


def test_repeated_parts_and_other_encodings():
    rng = np.random.default_rng(0)
    assert max(len(repeated(b"a: [ 1\n", rng)) for _ in range(50)) > 100_000
    found = {encoded(b"<?xml?>\n<a/>", rng) for _ in range(100)}
    assert any(text.startswith(b"\xff\xfe") and "<!DOCTYPE".encode("utf-16-le") in text for text in found)
