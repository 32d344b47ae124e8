"""Dask: the same bytes, and a run that survives its workers, and can be resumed after its scheduler."""

from __future__ import annotations

import re
import signal
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("distributed")

from faults.cluster import TESTS, cluster, free_port, wait_for_lines
from faults.driver import deadly, engine_of, items, pieces
from faults.results import driven, images, recorded, run, segment, tree
from large_images import SMALL, several_blocks

import mixfield as mf
from mixfield import batch
from mixfield.batch.cluster import DaskPool
from mixfield.batch.dask_client import connected
from mixfield.errors import BatchError

IMPATIENT = """
from mixfield.batch.cluster import Dask
Dask.__init__.__defaults__ = (None, None, 1.0)
from mixfield.cli import main
main()
"""

IMPATIENT_DRIVER = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
from faults import driver
from mixfield import batch
from mixfield.batch import cluster
cluster.RECOUNT_SECONDS = 1.0
driver.engine_of = lambda name, scheduler: batch.Dask(scheduler, patience=3.0)
driver.main(*sys.argv[1:])
"""


def test_a_worker_is_killed_and_the_scheduler_disappears(tmp_path):
    whole, out, later = tmp_path / "whole", tmp_path / "out", tmp_path / "later"
    assert run(driven(whole, "serial", 150)).returncode == 0
    with cluster(2) as (address, scheduler, workers):
        process = subprocess.Popen(driven(out, "dask", 150, address), stdout=subprocess.DEVNULL)
        wait_for_lines(out / "manifest.jsonl", 10)
        workers[0].kill()
        assert process.wait(120) == 0
        assert tree(out) == tree(whole)
        assert recorded(out) == {str(k): 1 for k in range(150)}

        command = driven(later, "dask", 150, address)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        wait_for_lines(later / "manifest.jsonl", 10)
        scheduler.kill()
        _, said = process.communicate(timeout=60)
        assert process.returncode != 0
        assert said.startswith(f"the Dask scheduler at {address} has gone; finished results are kept")
        assert said.count("\n") == 1
    finished = len(recorded(later))
    assert 9 <= finished < 150
    again = run(driven(later, "serial", 150))
    assert again.returncode == 0
    assert tree(later) == tree(whole)
    assert set(recorded(later).values()) == {1}


def test_all_workers_disappear(tmp_path):
    """A sentence after a while instead of waiting for ever; the run goes on when there are workers again."""
    out = tmp_path / "o"
    with cluster(2) as (address, _, workers):
        command = [sys.executable, "-c", IMPATIENT_DRIVER, *driven(out, "dask", 150, address)[2:]]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        wait_for_lines(out / "manifest.jsonl", 10)
        for worker in workers:
            worker.kill()
        _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert re.match(rf"the Dask scheduler at {address} has had no workers for [3-9] s; finished results are kept", said)
    assert said.count("\n") == 1
    assert not (out / ".drafts").exists()
    finished = set(recorded(out))
    assert 9 <= len(finished) < 150
    again = run(driven(out, "serial", 150))
    fresh = {line.split()[0] for line in again.stdout.splitlines()}
    assert again.returncode == 0
    assert len(fresh) == 150
    assert recorded(out) == {str(k): 1 for k in range(150)}


def test_a_result_is_lost_with_all_workers(tmp_path, monkeypatch):
    """Dask waits for another worker, to compute the result again; the run does not."""
    monkeypatch.setattr("mixfield.batch.cluster.RECOUNT_SECONDS", 0.5)
    with cluster(1) as (address, _, workers), connected(address, 30) as client:
        pool = DaskPool(client, pieces, tmp_path, address, patience=1)
        completed = pool.submit(items(1))
        completed.result(60)
        workers[0].kill()
        with pytest.raises(BatchError, match=rf"at {address} has had no workers for \d s"):
            pool.result(completed)


def test_a_scheduler_that_does_not_answer(tmp_path):
    out = tmp_path / "o"
    with cluster(1) as (address, scheduler, _):
        command = [sys.executable, "-c", IMPATIENT_DRIVER, *driven(out, "dask", 500, address)[2:]]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        wait_for_lines(out / "manifest.jsonl", 5)
        scheduler.send_signal(signal.SIGSTOP)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert said.startswith(f"the Dask scheduler at {address} has gone; finished results are kept")
    assert said.count("\n") == 1


def test_segment_on_a_local_cluster(tmp_path):
    pictures, scores = images(tmp_path, 4)
    for name, options in {"serial": (), "dask": ("--engine", "dask", "--workers", 2)}.items():
        done = run(segment(pictures, scores, tmp_path / name, *options, "--json"))
        assert (done.returncode, done.stderr) == (0, "")
    assert tree(tmp_path / "dask") == tree(tmp_path / "serial")


def test_a_large_image_on_an_existing_cluster(tmp_path):
    image, scores = several_blocks()
    np.save(tmp_path / "image.npy", image)
    np.save(tmp_path / "scores.npy", scores)
    with cluster(2) as (address, _, _):
        for name, engine in {"serial": None, "dask": batch.Dask(address)}.items():
            mf.segment_large(
                tmp_path / "image.npy", tmp_path / "scores.npy", tmp_path / f"{name}.npy", n_modes=2, kernels=SMALL,
                block=48, engine=engine, progress=False,
            )  # fmt: skip
    for ending in (".npy", "_alternatives.npy", "_questions.csv"):
        assert (tmp_path / f"dask{ending}").read_bytes() == (tmp_path / f"serial{ending}").read_bytes()


def test_an_item_that_kills_its_workers_fails_alone(tmp_path, monkeypatch):
    """Quick items share a task; those that were in it with a deadly one are done all the same."""
    monkeypatch.setenv("MIXFIELD_TEST_ONCE", str(tmp_path / "once"))
    outcomes = {o.name: o for o in batch.map(deadly, items(40), tmp_path / "o", engine=engine_of("dask"))}
    assert len(outcomes) == 40
    assert {name: o.failure for name, o in outcomes.items() if o.failure} == {"3": "its worker was lost 4 times"}
    assert recorded(tmp_path / "o") == {str(k): 1 for k in range(40) if k != 3}


def test_no_scheduler(tmp_path):
    pictures, scores = images(tmp_path, 1)
    for address in (f"tcp://127.0.0.1:{free_port()}", "nonsense://x"):
        words = segment(pictures, scores, tmp_path / "o", "--scheduler", address)[4:]
        done = run([sys.executable, "-c", IMPATIENT, "segment", *words])
        assert done.returncode == 2, done.stderr
        assert done.stderr.startswith("mixfield: no Dask scheduler answers at")
        assert done.stderr.count("\n") == 1
