"""The lock of a file, on systems with `fcntl`, with `msvcrt`, and without both."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace

import pytest

from mixfield.batch.file_lock import lock


@pytest.fixture
def file(tmp_path):
    with open(tmp_path / "f", "a+b", buffering=0) as found:
        found.write(b"content")
        yield found


def test_the_second_lock_is_refused(file):
    pytest.importorskip("fcntl")
    assert lock(file)
    with open(file.name, "rb", buffering=0) as second:
        assert lock(second) is False
    file.close()
    with open(file.name, "rb", buffering=0) as third:
        assert lock(third)


def test_a_file_system_without_locks(file, monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def flock(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", flock)
    assert lock(file)


@pytest.mark.parametrize(("error", "locked"), [(None, True), (PermissionError(), False), (OSError(), True)])
def test_windows(file, monkeypatch, error, locked):
    """`msvcrt` locks a byte behind the content, and the position of the file does not change."""
    calls = []

    def locking(descriptor, mode, count):
        calls.append((os.lseek(descriptor, 0, os.SEEK_CUR), mode, count))
        if error is not None:
            raise error

    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))
    file.seek(3)
    assert lock(file) == locked
    assert file.tell() == 3
    ((offset, mode, count),) = calls
    assert offset > 1 << 20
    assert (mode, count) == (2, 1)


def test_a_system_without_locks(file, monkeypatch):
    for name in ("fcntl", "msvcrt"):
        monkeypatch.setitem(sys.modules, name, None)
    assert lock(file)
