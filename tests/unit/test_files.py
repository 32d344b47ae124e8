"""Files that are replaced in one step, and paths that stay in their folder."""

from __future__ import annotations

import pytest

from mixfield import _files
from mixfield.errors import MixfieldError


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
