"""Arrays of unknown origin: read as NumPy reads them, or refused."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest

from mixfield import _files, _npy
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


def _declaring(path, *, shape, dtype="<f8", content=b"", name="a"):
    """An archive whose only array declares a shape, with other content."""
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": dtype, "fortran_order": False, "shape": shape})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}.npy", buffer.getvalue() + content)
    return path


def _no_reading(*_):
    pytest.fail("numbers were read")


def test_types_and_shapes_are_checked_before_numbers_are_read(tmp_path, monkeypatch):
    np.savez(tmp_path / "a.npz", one=np.zeros((2, 3), np.float32), two=np.zeros(5, np.uint8))
    np.save(tmp_path / "a.npy", np.zeros((2, 3), np.float32))
    monkeypatch.setattr(_npy, "_numbers", _no_reading)
    seen = {}

    def check(name, header, file_size):
        seen[name] = (header.shape, header.dtype, header.nbytes, file_size)
        if name != "one":
            raise ValueError("it is too odd")

    with pytest.raises(FileFormatError, match="is wrong: it is too odd"):
        _npy.read_npz(tmp_path / "a.npz", "is wrong", check=check)
    with pytest.raises(FileFormatError, match="is wrong: it is too odd"):
        _npy.read_npy(tmp_path / "a.npy", "is wrong", check)
    assert seen["one"] == ((2, 3), np.float32, 24, (tmp_path / "a.npz").stat().st_size)
    assert seen["two"][:3] == ((5,), np.uint8, 5)
    assert seen[""][:3] == ((2, 3), np.float32, 24)


def test_arrays_that_are_too_large_together(tmp_path, monkeypatch):
    np.savez(tmp_path / "a.npz", one=np.zeros(100), two=np.zeros(100))
    assert set(_npy.read_npz(tmp_path / "a.npz", "is wrong", largest=1600)) == {"one", "two"}
    monkeypatch.setattr(_npy, "_numbers", _no_reading)
    with pytest.raises(TooLargeError, match=r"shape \(100,\), \(100,\), 1600 bytes; at most 1599"):
        _npy.read_npz(tmp_path / "a.npz", "is wrong", largest=1599)


def test_a_small_file_does_not_take_much_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(_files, "ALWAYS_READ", 1000)
    np.savez_compressed(tmp_path / "a.npz", a=np.zeros(100_000))
    np.savez(tmp_path / "b.npz", a=np.zeros(100_000))
    assert _npy.read_npz(tmp_path / "b.npz", "is wrong")["a"].shape == (100_000,)
    monkeypatch.setattr(_npy, "_numbers", _no_reading)
    with pytest.raises(TooLargeError, match=r"would take 800000 in memory; at most 100 times .*: save it without"):
        _npy.read_npz(tmp_path / "a.npz", "is wrong")


def test_an_archive_that_declares_more_than_it_has(tmp_path):
    path = _declaring(tmp_path / "a.npz", shape=(1 << 22,), content=bytes(80))
    with pytest.raises(FileFormatError, match=r"it is cut off: .* has 33554432 bytes, there are 80"):
        _npy.read_npz(path, "is wrong")


def test_a_long_header_is_refused_before_it_is_read():
    class Stream(io.BytesIO):
        def read(self, size=-1):
            assert size <= _npy.MAX_HEADER, "the header was read"
            return super().read(size)

    with pytest.raises(ValueError, match="its header has 268435456 bytes, at most 10000"):
        _npy._header(Stream(b"\x93NUMPY\x02\x00" + (1 << 28).to_bytes(4, "little") + bytes(100)))


@pytest.mark.parametrize(("shape", "dtype"), [((1 << 40,), "|V0"), ((-1, 3), "<f8"), ((3,), "<U0")])
def test_shapes_and_types_of_no_array(tmp_path, shape, dtype):
    with pytest.raises(FileFormatError, match="of which there are no arrays"):
        _npy.read_npz(_declaring(tmp_path / "a.npz", shape=shape, dtype=dtype), "is wrong")


def test_a_name_that_is_not_there(tmp_path):
    np.savez(tmp_path / "a.npz", one=1)
    with pytest.raises(FileFormatError, match="is wrong: it has no array 'two'"):
        _npy.read_npz(tmp_path / "a.npz", "is wrong", lambda _: ["two"])


def test_too_little_memory_is_a_sentence(tmp_path, monkeypatch):
    def fail(*_):
        raise MemoryError("Unable to allocate 4.00 GiB")

    np.save(tmp_path / "a.npy", np.zeros(3))
    monkeypatch.setattr(_npy, "_numbers", fail)
    with pytest.raises(TooLargeError, match="needs more memory than there is: Unable to allocate"):
        _npy.read_npy(tmp_path / "a.npy", "is wrong")


def test_arrays_are_read_only(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3))
    assert not _npy.read_npy(tmp_path / "a.npy", "is wrong").flags.writeable


def test_equal_arrays_are_written_as_equal_bytes():
    arrays = {"a": np.arange(3), "b": np.ones((2, 2), np.float32)}
    files = [io.BytesIO(), io.BytesIO()]
    for file in files:
        _npy.write_npz(file, arrays)
    assert files[0].getvalue() == files[1].getvalue()
    with np.load(io.BytesIO(files[0].getvalue())) as again:
        np.testing.assert_array_equal(again["b"], arrays["b"])
