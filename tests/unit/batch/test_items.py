"""Items: stamps of their inputs."""

from __future__ import annotations

import hashlib
import os

import pytest

from mixfield.batch import Item
from mixfield.batch.items import BLOCK_BYTES, BLOCKS

WHOLE = BLOCKS * BLOCK_BYTES


def write(path, content, time=1000):
    path.write_bytes(content)
    os.utime(path, ns=(0, time))
    return Item("i", None, (path,)).stamp()[0]


def test_a_stamp_is_size_time_and_content(tmp_path):
    file, missing = tmp_path / "a", tmp_path / "b"
    assert write(file, b"1") == [1, 1000, hashlib.sha256(b"1").hexdigest()]
    assert Item("i", None, (file, missing)).stamp() == [write(file, b"1"), None]
    assert Item("none", None).stamp() == []


@pytest.mark.parametrize(("content", "time"), [(b"22", 1000), (b"1", 2000), (b"2", 1000)])
def test_a_stamp_changes_with_each_of_them(tmp_path, content, time):
    assert write(tmp_path / "a", b"1") != write(tmp_path / "a", content, time)


@pytest.mark.parametrize("size", [WHOLE, 10 * WHOLE + 7])
@pytest.mark.parametrize("place", [0, 0.5, 1])
def test_large_files_are_sampled_from_the_first_byte_to_the_last(tmp_path, size, place):
    block = 0 if place == 0 else BLOCKS - 1 if place == 1 else BLOCKS // 2
    offset = block * (size - BLOCK_BYTES) // (BLOCKS - 1) + (BLOCK_BYTES - 1 if place == 1 else 0)
    changed = bytearray(size)
    changed[offset] = 1
    assert write(tmp_path / "a", bytes(size)) != write(tmp_path / "a", bytes(changed))


def test_every_byte_of_a_small_file_counts(tmp_path):
    before = write(tmp_path / "a", bytes(WHOLE))
    for offset in (BLOCK_BYTES + 1, WHOLE // 2 + 1, WHOLE - 1):
        changed = bytearray(WHOLE)
        changed[offset] = 1
        assert write(tmp_path / "a", bytes(changed)) != before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are for POSIX systems")
def test_a_pipe_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (stamp,) = Item("i", None, (tmp_path / "pipe",)).stamp()
    assert stamp[2] == ""
