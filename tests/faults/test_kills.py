"""kill -9 at random points, then the same command again: nothing is lost, nothing is done twice, the same bytes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from faults.driver import deadly, engine_of, items, pieces
from faults.results import children, driven, finished, images, kill_until_done, recorded, run, segment, tree, video

from mixfield import batch
from mixfield.errors import MixfieldError


@pytest.mark.parametrize("engine", ["serial", "processes"])
def test_driver_is_killed(tmp_path, engine):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert run(driven(whole, engine, 40)).returncode == 0
    kills = kill_until_done(driven(broken, engine, 40), broken, 40, np.random.default_rng(0))
    assert kills > 0
    assert tree(broken) == tree(whole)
    assert recorded(broken) == {str(k): 1 for k in range(40)}
    assert not (broken / ".drafts").exists()


def test_segment_is_killed(tmp_path):
    pictures, scores = images(tmp_path, 6)
    assert run(segment(pictures, scores, tmp_path / "whole")).returncode == 0
    command = segment(pictures, scores, tmp_path / "broken", "--workers", 2)
    kills = kill_until_done(command, tmp_path / "broken", 6, np.random.default_rng(1))
    assert kills > 0
    assert tree(tmp_path / "broken") == tree(tmp_path / "whole")
    assert set(recorded(tmp_path / "broken").values()) == {1}
    summary = json.loads((tmp_path / "broken" / "summary.json").read_text())
    assert [len(summary["images"]), summary["failures"]] == [6, {}]


def test_video_is_killed(tmp_path):
    pictures, scores = images(tmp_path, 6, size=(16, 20))
    assert run(video(pictures, scores, tmp_path / "whole")).returncode == 0
    command = video(pictures, scores, tmp_path / "broken", "--workers", 2)
    assert kill_until_done(command, tmp_path / "broken", 6, np.random.default_rng(2)) > 0
    assert tree(tmp_path / "broken") == tree(tmp_path / "whole")
    assert set(recorded(tmp_path / "broken").values()) == {1}
    summaries = [json.loads((tmp_path / name / "frames.json").read_text()) for name in ("broken", "whole")]
    assert summaries[0]["frames"] == summaries[1]["frames"]


@pytest.mark.parametrize("engine", ["processes", "forked"])
def test_workers_die_with_their_driver(tmp_path, engine):
    process = subprocess.Popen(driven(tmp_path / "o", engine, 100_000), stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    workers = children(process.pid)
    assert len(workers) >= 2
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    deadline = time.monotonic() + 10
    while any(os.path.exists(f"/proc/{worker}") for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [worker for worker in workers if os.path.exists(f"/proc/{worker}")]


def interruptible(tmp_path, engine):
    """A process that segments 30 images, in a session of its own, as a job of a terminal."""
    pictures, scores = images(tmp_path, 30)
    return subprocess.Popen(
        segment(pictures, scores, tmp_path / "o", "--workers", 2, "--engine", engine),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background job ignores it
    )


def wait_until_started(process, out, *, early):
    """Until workers start, or until the first results."""
    while len(children(process.pid)) < 2 if early else finished(out) < 2:
        time.sleep(0.01)


def check_stopped(process, out, said):
    assert process.returncode == 130
    lines = said.splitlines()
    assert len(lines) == 1, said  # in a pipe there is no progress
    assert lines[0].startswith("mixfield: stopped (")
    assert not (out / ".drafts").exists()
    assert len(recorded(out)) == finished(out)


@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_interrupted_by_the_keyboard(tmp_path, engine, early):
    """While workers start, and in the middle: one line, whole results, no complaints of workers."""
    process = interruptible(tmp_path, engine)
    wait_until_started(process, tmp_path / "o", early=early)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: driver and workers
    _, said = process.communicate(timeout=60)
    check_stopped(process, tmp_path / "o", said)


@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_interrupted_many_times(tmp_path, engine, early):
    """Ctrl-C again and again until the process has ended: the cleanup is not interrupted."""
    process = interruptible(tmp_path, engine)
    wait_until_started(process, tmp_path / "o", early=early)
    presses = 0
    while process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
        presses += 1
        time.sleep(0.005)
    assert presses > 1
    _, said = process.communicate()
    check_stopped(process, tmp_path / "o", said)


def test_worker_is_killed(tmp_path, monkeypatch):
    monkeypatch.setenv("MIXFIELD_TEST_ONCE", str(tmp_path / "once"))
    outcomes = {o.name: o for o in batch.map(deadly, items(12), tmp_path / "o", engine=engine_of("processes"))}
    assert [name for name, o in outcomes.items() if o.failure] == ["3"]
    assert "killed by signal 9" in outcomes["3"].failure
    assert "2 times" in outcomes["3"].failure
    again = list(batch.map(pieces, items(12), tmp_path / "o"))
    assert [o.name for o in again if o.fresh] == ["3"]


def test_engines_give_the_same_bytes(tmp_path):
    for engine in ("serial", "processes", "forked"):
        assert run(driven(tmp_path / engine, engine, 6)).returncode == 0
    assert tree(tmp_path / "serial") == tree(tmp_path / "processes") == tree(tmp_path / "forked")


def test_two_drivers_do_not_write_to_one_folder(tmp_path):
    first = batch.map(pieces, items(3), tmp_path)
    next(first)
    with pytest.raises(MixfieldError, match="another run is writing"):
        next(batch.map(pieces, items(3), tmp_path))
    assert len(list(first)) == 2


@pytest.mark.parametrize("engine", ["Processes(2)", "Dask(workers=2)"])
def test_programs_without_a_guard_get_an_error(tmp_path, engine):
    program = (
        "from pathlib import Path\nfrom mixfield import batch\n"
        "def work(number, folder):\n    (folder / f'{number}.txt').write_text('x')\n"
        "items = [batch.Item(str(k), k) for k in range(100)]\n"
        f"print(len(list(batch.map(work, items, Path({str(tmp_path / 'o')!r}), engine=batch.{engine}))))\n"
    )
    file = tmp_path / "program.py"
    file.write_text(program)
    done = run([sys.executable, str(file)], env=os.environ | {"NUMBA_DISABLE_JIT": "0"})
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert "BatchError" in last
    assert 'guards its main part by if __name__ == "__main__":' in last


def test_work_that_cannot_be_sent(tmp_path):
    with pytest.raises(MixfieldError, match="the work cannot be sent to other processes"):
        list(batch.map(lambda number, folder: None, items(2), tmp_path, engine=batch.Processes(2)))  # noqa: ARG005


def test_an_item_that_cannot_be_sent(tmp_path):
    wrong = batch.Item("wrong", lambda: None)
    with pytest.raises(MixfieldError, match="item 'wrong' cannot be sent to other processes"):
        list(batch.map(print, [*items(2), wrong], tmp_path, engine=batch.Processes(2)))
