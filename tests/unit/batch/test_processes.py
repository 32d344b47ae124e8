"""Worker processes: results, replaced workers, an orderly end.  Kills of the driver are in tests/faults."""

from __future__ import annotations

import multiprocessing
import os
import signal

import pytest
from faults.driver import deadly, items, pieces, slow_and_deadly
from faults.results import tree

from mixfield import batch
from mixfield.errors import BatchError


def test_the_same_files_as_serial(tmp_path):
    for name, engine in {"serial": batch.Serial(), "processes": batch.Processes(2)}.items():
        outcomes = list(batch.map(pieces, items(5), tmp_path / name, engine=engine))
        assert {outcome.name for outcome in outcomes} == {str(k) for k in range(5)}
        assert all(outcome.failure is None for outcome in outcomes)
    assert tree(tmp_path / "processes") == tree(tmp_path / "serial")
    assert multiprocessing.active_children() == []


def test_a_lost_worker_costs_its_own_task_only(tmp_path):
    """A slow item that runs beside a deadly one runs once."""
    calls = tmp_path / "calls"
    calls.mkdir()
    todo = [batch.Item("slow", ("slow", calls)), batch.Item("deadly", ("deadly", calls))]
    outcomes = {o.name: o for o in batch.map(slow_and_deadly, todo, tmp_path / "o", engine=batch.Processes(2))}
    assert outcomes["slow"].failure is None
    assert "killed by signal 9 (often a sign of too little memory), 2 times" in outcomes["deadly"].failure
    assert sorted(path.name.partition("-")[0] for path in calls.iterdir()) == ["deadly", "deadly", "slow"]


def test_a_system_without_sigkill(tmp_path, monkeypatch):
    """Windows has neither SIGKILL nor signal masks in `signal`."""
    monkeypatch.setenv("MIXFIELD_TEST_ONCE", str(tmp_path / "once"))
    monkeypatch.delattr(signal, "SIGKILL")
    monkeypatch.delattr(signal, "pthread_sigmask")
    outcomes = {o.name: o for o in batch.map(deadly, items(6), tmp_path / "o", engine=batch.Processes(2))}
    assert [name for name, o in outcomes.items() if o.failure] == ["3"]


def test_a_closed_run_ends_its_workers(tmp_path):
    outcomes = batch.map(pieces, items(1000), tmp_path, engine=batch.Processes(2))
    next(outcomes)
    assert len(multiprocessing.active_children()) == 2
    outcomes.close()
    assert multiprocessing.active_children() == []
    assert not (tmp_path / ".drafts").exists()


def test_fewer_items_than_workers(tmp_path):
    outcomes = batch.map(pieces, items(1), tmp_path, engine=batch.Processes(8))
    next(outcomes)
    assert len(multiprocessing.active_children()) == 1
    outcomes.close()


def exit_at_once(*_):
    raise SystemExit(1)


def test_workers_that_cannot_start(tmp_path, monkeypatch):
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("a forked worker takes its patched functions with it")
    monkeypatch.setattr("mixfield.batch.processes._serve", exit_at_once)
    with pytest.raises(BatchError, match="workers cannot start: a program that starts processes"):
        list(batch.map(pieces, items(3), tmp_path, engine=batch.Processes(2, method="fork")))


def end_worker(number, _folder):
    if number == 1:
        os._exit(1)


def test_an_item_that_ends_its_worker(tmp_path):
    """Exit code 1 of a worker that has started is a failure of the item."""
    outcomes = {o.name: o.failure for o in batch.map(end_worker, items(4), tmp_path, engine=batch.Processes(2))}
    assert outcomes == {"0": None, "1": "its worker ended with exit code 1, 2 times", "2": None, "3": None}
