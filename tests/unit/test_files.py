"""Files that are read within limits or replaced in one step, and paths that stay in their folder."""

from __future__ import annotations

import os
import socket

import pytest

from mixfield import _files
from mixfield.errors import FileFormatError, MixfieldError, TooLargeError


def test_a_file_is_replaced_at_the_end_of_the_block(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with _files.draft(path) as draft:
        draft.write_text("new")
        assert path.read_text() == "old"
        assert draft.parent == tmp_path
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_block_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail():
        with _files.draft(path) as draft:
            draft.write_text("half")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_texts_and_bytes(tmp_path):
    _files.write_text(tmp_path / "a", "ä\n")
    assert (tmp_path / "a").read_bytes() == b"\xc3\xa4\n"
    _files.write_bytes(tmp_path / "a", b"\r\n")
    assert (tmp_path / "a").read_bytes() == b"\r\n"


def test_paths_inside(tmp_path):
    (tmp_path / "b").mkdir()
    assert _files.inside(tmp_path, "b/c.txt") == tmp_path / "b" / "c.txt"
    assert _files.inside(tmp_path, "new.txt") == tmp_path / "new.txt"


@pytest.mark.parametrize("name", ["", "../x", "/x", "b/../../x", "a\\x", "x\0", "link", "out/x", "y" * 5000 + "/x"])
def test_paths_outside(tmp_path, name):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "x")
    (folder / "out").symlink_to(tmp_path)
    with pytest.raises(MixfieldError, match="does not lie in"):
        _files.inside(folder, name)


def _folder(path):
    path.mkdir()


def _pipe(path):
    os.mkfifo(path)


def _socket(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(path))  # paths of sockets are short


def _device(path):
    path.symlink_to("/dev/zero")


SPECIAL = {"a folder": _folder, "a pipe": _pipe, "a socket": _socket, "a device": _device}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
@pytest.mark.parametrize("kind", SPECIAL)
def test_special_files_are_refused_by_kind(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "x"
    SPECIAL[kind](path)
    for read in (_files.check_file, _files.open_file, lambda path: _files.read_bytes(path, 10)):
        with pytest.raises(FileFormatError, match=f"/x is {kind}; give a file"):
            read(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_that_replaces_a_checked_file_does_not_block(tmp_path, monkeypatch):
    monkeypatch.setattr(_files, "check_file", lambda _: None)
    os.mkfifo(tmp_path / "x")
    with _files.open_file(tmp_path / "x") as stream:
        assert stream.read() == b""


def test_missing_files_and_names_that_are_none(tmp_path):
    with pytest.raises(FileNotFoundError):
        _files.open_file(tmp_path / "x")
    with pytest.raises(FileFormatError, match="is not the path of a file"):
        _files.open_file("x\0y")


def test_content_within_a_limit(tmp_path):
    (tmp_path / "x").write_bytes(b"12345")
    assert _files.read_bytes(tmp_path / "x", 5) == b"12345"
    with pytest.raises(TooLargeError, match="has 5 bytes; at most 4 are read"):
        _files.read_bytes(tmp_path / "x", 4)


def test_a_small_file_may_not_take_all_memory():
    assert _files.largest_content(1) == _files.ALWAYS_READ
    assert _files.largest_content(1 << 30) == _files.MAX_EXPANSION << 30
    assert _files.largest_content(1 << 30, 3) == 3 << 30
