"""Clients of Dask: addresses, a library that is not installed, start methods."""

from __future__ import annotations

import multiprocessing
import sys

import pytest

from mixfield import batch
from mixfield.batch import dask_client
from mixfield.errors import BatchError, MixfieldError


def items(count):
    return [batch.Item(str(k), k) for k in range(count)]


def test_without_dask_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MixfieldError, match=r"mixfield\[cluster\]"):
        list(batch.map(print, items(1), tmp_path, engine=batch.Dask()))


@pytest.mark.parametrize("address", ["nonsense", "nonsense://x", "host:8786"])
def test_addresses(tmp_path, address):
    pytest.importorskip("distributed")
    with pytest.raises(BatchError, match=f"no Dask scheduler answers at {address}: an address looks like"):
        list(batch.map(print, items(1), tmp_path, engine=batch.Dask(address)))


def test_a_system_without_fork(monkeypatch):
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    assert dask_client._start_method() == "spawn"


@pytest.mark.skipif("forkserver" not in multiprocessing.get_all_start_methods(), reason="there is no fork server")
def test_a_temporary_folder_with_a_long_path(monkeypatch):
    """The path of a socket has about a hundred characters."""

    def too_long():
        raise OSError("AF_UNIX path too long")

    monkeypatch.setattr("multiprocessing.forkserver.ensure_running", too_long)
    assert dask_client._start_method() == "spawn"
