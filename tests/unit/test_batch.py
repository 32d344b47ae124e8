"""The engine of batches, without faults: outcomes, settings, progress, options."""

from __future__ import annotations

import json
import os
import signal
import threading
import time

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from mixfield import batch
from mixfield.batch.interrupts import deaf
from mixfield.cli import app, batching
from mixfield.errors import MixfieldError


def square(number, folder):
    if number == 2:
        raise MixfieldError("two is not a number")
    if number == 3:
        raise KeyError("three")
    (folder / "squares").mkdir()
    (folder / "squares" / f"{number}.txt").write_text(str(number**2))
    return {"square": number**2}


def items(count):
    return [batch.Item(f"n{k}", k) for k in range(count)]


def test_outcomes(tmp_path):
    found = {outcome.name: outcome for outcome in batch.map(square, items(5), tmp_path / "o")}
    assert [name for name, o in found.items() if o.failure is None] == ["n0", "n1", "n4"]
    assert found["n2"].failure == "two is not a number"
    assert found["n2"].trace is None
    assert found["n3"].failure == "unexpected KeyError: 'three'"
    assert "in square" in found["n3"].trace
    assert found["n4"].facts == {"square": 16}
    assert list(found["n4"].files) == ["squares/4.txt"]
    again = list(batch.map(square, items(6), tmp_path / "o"))
    assert [(o.name, o.fresh) for o in again][:3] == [("n0", False), ("n1", False), ("n4", False)]
    assert [o.name for o in again if o.fresh] == ["n2", "n3", "n5"]  # failed ones are tried again
    assert again[2].facts == {"square": 16}


def plain(number, _folder):
    return {"number": number}


def test_facts_without_files(tmp_path):
    """Numbers only: kept in the manifest, read back from it, and more of them later."""
    out = tmp_path / "o"
    assert batch.facts(out) == {}
    for count, fresh in ((3, [True] * 3), (5, [False] * 3 + [True] * 2)):
        assert [outcome.fresh for outcome in batch.map(plain, items(count), out)] == fresh
        assert batch.facts(out) == {f"n{k}": {"number": k} for k in range(count)}
    assert {path.name for path in out.iterdir()} == {"manifest.jsonl"}
    with (out / "manifest.jsonl").open("a") as file:
        file.write('{"item": "n1", "failure": "now it fails", "trace": null}\n{"item": "n2", "fil')
    assert list(batch.facts(out)) == ["n0", "n2", "n3", "n4"]
    (out / "manifest.jsonl").write_text('{"format": "other"}\n')
    with pytest.raises(MixfieldError, match="not a manifest"):
        batch.facts(out)


def test_names_are_different(tmp_path):
    with pytest.raises(MixfieldError, match="'n0' comes 2 times"):
        list(batch.map(square, items(2) + items(1), tmp_path))


def test_settings(tmp_path):
    with pytest.raises(StopIteration):
        next(batch.map(square, [], tmp_path, settings={"modes": 1}))
    list(batch.map(square, items(4)[2:], tmp_path, settings={"modes": 2}))  # nothing has come of the others
    list(batch.map(square, items(1), tmp_path, settings={"modes": 3}))  # nor of these
    with pytest.raises(MixfieldError, match="other settings"):
        list(batch.map(square, items(1), tmp_path, settings={"modes": 2}))


def test_a_line_that_was_cut_off_is_no_line(tmp_path):
    list(batch.map(square, items(2), tmp_path))
    manifest = tmp_path / "manifest.jsonl"
    manifest.write_bytes(manifest.read_bytes()[:-20])
    assert [o.fresh for o in batch.map(square, items(2), tmp_path)] == [False, True]
    manifest.write_bytes(b"")
    assert [o.fresh for o in batch.map(square, items(2), tmp_path)] == [True, True]


def test_tally():
    now = [0.0]
    tally = batch.Tally(10, clock=lambda: now[0])
    assert str(tally) == "0 of 10, 0/s, 0 failed"
    tally.add(batch.Outcome("a", fresh=False))
    now[0] = 4.0
    tally.add(batch.Outcome("b"))
    tally.add(batch.Outcome("c", failure="no"))
    assert str(tally) == "3 of 10, 1 of them earlier, 2 s each, 0:00:14 left, 1 failed"
    assert (tally.settled, tally.rate, tally.seconds_left) == (3, 0.5, 14.0)


@pytest.mark.parametrize(
    ("options", "engine"),
    [
        (("", None, ""), batch.Serial()),
        (("", 3, ""), batch.Processes(3)),
        (("processes", 1, ""), batch.Processes(1)),
        (("dask", 2, ""), batch.Dask(None, 2)),
        (("", None, "tcp://host:1"), batch.Dask("tcp://host:1")),
    ],
)
def test_options(options, engine):
    assert batching.engine(*options) == engine


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("threads", None, ""), "serial, processes or dask"),
        (("serial", 2, ""), "one worker"),
        (("serial", None, "tcp://host:1"), "for --engine dask"),
        (("", 2, "tcp://host:1"), "for this machine"),
    ],
)
def test_options_that_contradict(options, complaint):
    with pytest.raises(MixfieldError, match=complaint):
        batching.engine(*options)


def test_unusual_names(tmp_path):
    """Markup, line breaks and bytes that are no text, in the names of good and bad images."""
    (tmp_path / "i").mkdir()
    (tmp_path / "s").mkdir()
    for stem in ("[red]x[bold]", "two\nlines\x1b[31m", "caf\udce9"):
        Image.fromarray(np.zeros((4, 5), np.uint8)).save(tmp_path / "i" / f"{stem}.png")
        np.save(tmp_path / "s" / f"{stem}.npy", np.full((4, 5, 2), 0.5, np.float32))
        (tmp_path / "i" / f"bad{stem}.png").write_bytes(b"")
        np.save(tmp_path / "s" / f"bad{stem}.npy", np.zeros(3))
    words = [tmp_path / "i", "--scores", tmp_path / "s", "--modes", 1, "--out", tmp_path / "o"]
    done = CliRunner().invoke(app, ["segment", *map(str, words)])
    assert done.exit_code == 1, done.output
    assert "3 images segmented, 3 failed" in done.stdout
    for name in ("bad[red]x[bold].png", "badtwo\\nlines\\x1b[31m.png", "badcaf\\udce9.png"):
        assert f"failed: {name}: " in done.output
    assert len(json.loads((tmp_path / "o" / "summary.json").read_text())["failures"]) == 3


def _interrupted_while_deaf(reached):
    with deaf():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)
        reached.set()


@pytest.fixture
def listening():
    """Ctrl-C is heard, as in a terminal; a job in the background of a shell ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("listening")
def test_interrupts_wait_until_workers_have_started():
    """Also where another thread, which does not block the signal, hears of it first."""
    done, reached = threading.Event(), threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            _interrupted_while_deaf(reached)
    finally:
        done.set()
        other.join()
    assert reached.is_set()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
