"""Arrays of unknown origin: read as NumPy reads them, or refused."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield import _npy
from mixfield.errors import FileFormatError, TooLargeError

ARRAYS = {
    "float": np.arange(6.0).reshape(2, 3),
    "fortran": np.asfortranarray(np.arange(6, dtype=">i2").reshape(2, 3)),
    "empty": np.zeros((0, 3)),
    "scalar": np.array(4.5),
    "text": np.array(["ab", "c"]),
    "bool": np.array([True, False]),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_read_as_numpy_reads_them(tmp_path, name):
    np.save(tmp_path / "a.npy", ARRAYS[name])
    found = _npy.read_npy(tmp_path / "a.npy", "is wrong")
    assert (found.dtype, found.shape) == (ARRAYS[name].dtype, ARRAYS[name].shape)
    np.testing.assert_array_equal(found, ARRAYS[name])


def test_archives_and_a_choice_of_their_arrays(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", **ARRAYS)
    assert set(_npy.read_npz(tmp_path / "a.npz", "is wrong")) == set(ARRAYS)
    (found,) = _npy.read_npz(tmp_path / "a.npz", "is wrong", lambda names: [n for n in names if n == "float"]).values()
    np.testing.assert_array_equal(found, ARRAYS["float"])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty or cut off"),
        (b"hello world", "pickled objects are not read"),
        (b"\x93NUMPY\x09\x00", r"version \(9, 0\)"),
    ],
)
def test_damaged_files_are_refused_with_the_reason(tmp_path, content, reason):
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(FileFormatError, match=rf"a\.npy is wrong: .*{reason}"):
        _npy.read_npy(tmp_path / "a.npy", "is wrong")


def test_cut_off_and_large_arrays(tmp_path, monkeypatch):
    np.save(tmp_path / "a.npy", np.zeros(100))
    (tmp_path / "b.npy").write_bytes((tmp_path / "a.npy").read_bytes()[:-8])
    with pytest.raises(FileFormatError, match=r"it is cut off: .* has 800 bytes, there are 792"):
        _npy.read_npy(tmp_path / "b.npy", "is wrong")
    monkeypatch.setattr(_npy, "LARGEST", 799)
    with pytest.raises(TooLargeError, match="800 bytes; at most 799"):
        _npy.read_npy(tmp_path / "a.npy", "is wrong")


def test_a_missing_file_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        _npy.read_npz(tmp_path / "a.npz", "is wrong")
