"""Sources: windows of arrays and files equal slices of the array."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from PIL import Image

from mixfield.errors import FileFormatError, MixfieldError
from mixfield.large.sources import open_source

WINDOW = (slice(3, 7), slice(2, 9), slice(0, 3))


@pytest.fixture
def array():
    return np.random.default_rng(0).integers(0, 255, (10, 12, 3), np.uint8)


def test_arrays_and_files_give_the_same_window(array, tmp_path):
    np.save(tmp_path / "a.npy", array)
    Image.fromarray(array).save(tmp_path / "a.png")
    for given in (array, tmp_path / "a.npy", str(tmp_path / "a.png")):
        source = pickle.loads(pickle.dumps(open_source("image", given)))
        assert source.shape == array.shape
        assert source.dtype == np.uint8
        assert source.mask(WINDOW[:2]) is None
        np.testing.assert_array_equal(source.read(WINDOW), array[WINDOW])


def test_dask_arrays_are_computed_by_window(array):
    dask_array = pytest.importorskip("dask.array")
    source = open_source("image", dask_array.from_array(array, chunks=(4, 4, 3)))
    np.testing.assert_array_equal(source.read(WINDOW), array[WINDOW])


def test_a_mapped_file_is_not_pickled(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((1000, 1000)))
    source = open_source("image", tmp_path / "a.npy")
    source.read((slice(0, 1), slice(0, 1)))
    assert len(pickle.dumps(source)) < 1000


def test_the_identity_of_an_array_depends_on_its_content(array):
    other = array.copy()
    other[0, 0, 0] ^= 1
    assert open_source("image", array).identity == open_source("image", array.copy()).identity
    assert open_source("image", array).identity != open_source("image", other).identity


def test_wrong_files_are_refused(tmp_path):
    (tmp_path / "a.txt").write_text("no")
    (tmp_path / "a.npy").write_bytes(b"no")
    np.save(tmp_path / "objects.npy", np.array([None]), allow_pickle=True)
    with pytest.raises(MixfieldError, match=r"image must be \.tif"):
        open_source("image", tmp_path / "a.txt")
    for name in ("a.npy", "objects.npy"):
        with pytest.raises(FileFormatError, match="mapped"):
            open_source("image", tmp_path / name)
    with pytest.raises(FileNotFoundError):
        open_source("image", tmp_path / "none.npy")


def test_a_file_that_changes_is_read_again(tmp_path):
    for value in (1, 2):
        np.save(tmp_path / "a.npy", np.full((4, 4), value))
        assert open_source("image", tmp_path / "a.npy").read((slice(0, 1), slice(0, 1))) == value
