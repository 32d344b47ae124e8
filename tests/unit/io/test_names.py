"""Names of labels."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield import _npy
from mixfield.errors import FileFormatError, TooLargeError
from mixfield.io.names import names_in_scores, read_names


def test_one_name_a_line(tmp_path):
    file = tmp_path / "names.txt"
    file.write_text("sky \r\n\ntree\n\n", encoding="utf-8")
    assert read_names(file) == ("sky", "", "tree")


@pytest.mark.parametrize("content", ["", " \n\n"])
def test_a_file_without_names_is_refused(tmp_path, content):
    (tmp_path / "names.txt").write_text(content)
    with pytest.raises(FileFormatError, match=r"names.txt holds no names; give one a line"):
        read_names(tmp_path / "names.txt")


def test_names_beside_the_scores(tmp_path):
    scores = np.zeros((2, 2, 2))
    for entry in ("names", "classes"):
        np.savez(tmp_path / "a.npz", probs=scores, **{entry: np.array(["sky", "tree"])})
        assert names_in_scores(tmp_path / "a.npz") == ("sky", "tree")
    np.savez(tmp_path / "a.npz", probs=scores, names=np.arange(2))
    assert names_in_scores(tmp_path / "a.npz") == ()
    np.savez(tmp_path / "a.npz", probs=scores)
    assert names_in_scores(tmp_path / "a.npz") == ()
    np.save(tmp_path / "a.npy", scores)
    assert names_in_scores(tmp_path / "a.npy") == ()


def test_a_novel_is_refused(tmp_path):
    (tmp_path / "novel.txt").write_text("It was a dark and stormy night " * 20)
    with pytest.raises(FileFormatError, match="one a line"):
        read_names(tmp_path / "novel.txt")


def test_a_large_array_holds_no_names(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "a.npz", names=np.zeros(2, "U30000000"))
    monkeypatch.setattr(_npy, "_numbers", lambda *_: pytest.fail("numbers were read"))
    with pytest.raises(TooLargeError, match="at most 52428800 are read"):
        names_in_scores(tmp_path / "a.npz")


def test_characters_that_do_not_exist(tmp_path):
    broken = np.array([0x7FFFFFFF, 0x41], np.uint32).view("<U1")
    np.savez(tmp_path / "scores.npz", probs=np.ones(2), names=broken)
    with pytest.raises(FileFormatError, match="does not hold names"):
        names_in_scores(tmp_path / "scores.npz")
