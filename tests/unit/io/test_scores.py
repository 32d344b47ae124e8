"""Scores from files: what is read, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield import _npy
from mixfield.errors import FileFormatError
from mixfield.io.images import write_label_map
from mixfield.io.scores import read_scores

PROBS = np.random.default_rng(0).random((6, 9, 3)).astype(np.float32)


def test_npy_and_npz(tmp_path):
    np.save(tmp_path / "a.npy", PROBS)
    np.savez(tmp_path / "one.npz", whatever=PROBS)
    np.savez_compressed(tmp_path / "named.npz", other=np.zeros(3), probs=PROBS)
    np.save(tmp_path / "batch.npy", PROBS[None])
    for name in ("a.npy", "one.npz", "named.npz", "batch.npy"):
        np.testing.assert_array_equal(read_scores(tmp_path / name), PROBS)


def test_label_map_file(tmp_path):
    write_label_map(tmp_path / "a.png", [[0, 2, 255]])
    np.testing.assert_array_equal(read_scores(tmp_path / "a.png"), [[0, 2, 255]])


def test_files_that_hold_no_scores(tmp_path):
    (tmp_path / "empty.npy").write_bytes(b"")
    (tmp_path / "text.npy").write_text("hello")
    (tmp_path / "text.npz").write_text("hello")
    (tmp_path / "scores.txt").write_text("hello")
    np.savez(tmp_path / "two.npz", a=PROBS, b=PROBS)
    np.savez(tmp_path / "none.npz")
    np.save(tmp_path / "words.npy", np.array(["a"]))
    np.save(tmp_path / "pickle.npy", np.array([{}], object), allow_pickle=True)
    np.savez(tmp_path / "cut.npz", probs=PROBS)
    (tmp_path / "cut.npz").write_bytes((tmp_path / "cut.npz").read_bytes()[:200])
    sentences = {
        "empty.npy": "does not hold scores: it is empty or cut off",
        "text.npy": "pickled objects are not read",
        "text.npz": "pickled objects are not read",
        "scores.txt": "must be .npy",
        "two.npz": "one named probs, scores, arr_0, got a, b",
        "none.npz": "got none",
        "words.npy": "numbers are needed",
        "pickle.npy": "pickled objects are not read",
        "cut.npz": "does not hold scores: pickled objects are not read",
    }
    for name, sentence in sentences.items():
        with pytest.raises(FileFormatError, match=sentence) as caught:
            read_scores(tmp_path / name)
        assert name in str(caught.value)
        assert "\n" not in str(caught.value)


def test_types_are_checked_before_numbers_are_read(tmp_path, monkeypatch):
    np.savez(tmp_path / "a.npz", probs=np.zeros(3, complex))
    monkeypatch.setattr(_npy, "_numbers", lambda *_: pytest.fail("numbers were read"))
    with pytest.raises(FileFormatError, match="its array is of complex128, numbers are needed"):
        read_scores(tmp_path / "a.npz")
