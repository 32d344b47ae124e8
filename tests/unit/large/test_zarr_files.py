"""Zarr: windows of arrays, groups and OME-Zarr, and labels in the same form."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from mixfield.errors import FileFormatError
from mixfield.large.zarr_files import chunk_size, open_zarr, write_zarr

zarr = pytest.importorskip("zarr")


def parts_of(labels, step=64):
    rows = range(0, len(labels), step)
    return [
        ((slice(first, min(len(labels), first + step)), slice(0, labels.shape[1])), labels[first : first + step])
        for first in rows
    ]


def test_an_array_and_a_group_of_one_array(tmp_path):
    array = np.random.default_rng(0).random((6, 8, 3)).astype(np.float32)
    zarr.save_array(tmp_path / "a.zarr", array)
    zarr.save_group(tmp_path / "g.zarr", scores=array)
    window = (slice(1, 4), slice(2, 8), slice(0, 3))
    for name in ("a.zarr", "g.zarr"):
        source = pickle.loads(pickle.dumps(open_zarr(tmp_path / name)))
        assert (source.shape, source.dtype, source.channel_axis) == ((6, 8, 3), np.float32, None)
        np.testing.assert_array_equal(source.read(window), array[window])


def test_an_image_of_ome_zarr(tmp_path):
    array = np.random.default_rng(0).integers(0, 255, (1, 3, 1, 6, 8), np.uint8)
    group = zarr.create_group(tmp_path / "i.zarr")
    group.create_array("0", data=array)
    axes = [{"name": name} for name in "tczyx"]
    group.attrs["ome"] = {"multiscales": [{"axes": axes, "datasets": [{"path": "0"}]}]}
    source = open_zarr(tmp_path / "i.zarr")
    assert (source.shape, source.channel_axis, source.is_ome) == ((3, 6, 8), 0, True)
    np.testing.assert_array_equal(source.read((slice(0, 3), slice(2, 4), slice(0, 8))), array[0, :, 0, 2:4])


@pytest.mark.parametrize(
    "attributes", [{"multiscales": [{}]}, {"ome": {"multiscales": [{"axes": [], "datasets": []}]}}]
)
def test_damaged_metadata_are_refused(tmp_path, attributes):
    zarr.create_group(tmp_path / "i.zarr").attrs.update(attributes)
    with pytest.raises(FileFormatError, match="multiscales"):
        open_zarr(tmp_path / "i.zarr")


def test_several_arrays_or_times_are_refused(tmp_path):
    zarr.save_group(tmp_path / "g.zarr", a=np.zeros(2), b=np.zeros(2))
    with pytest.raises(FileFormatError, match="one array"):
        open_zarr(tmp_path / "g.zarr")
    group = zarr.create_group(tmp_path / "t.zarr")
    group.create_array("0", data=np.zeros((2, 4, 4)))
    group.attrs["multiscales"] = [{"axes": ["t", "y", "x"], "datasets": [{"path": "0"}]}]
    with pytest.raises(FileFormatError, match="2 times"):
        open_zarr(tmp_path / "t.zarr")
    (tmp_path / "empty.zarr").mkdir()
    with pytest.raises(FileFormatError, match="no zarr store"):
        open_zarr(tmp_path / "empty.zarr")


def test_labels_as_an_array(tmp_path):
    labels = np.random.default_rng(0).integers(0, 4, (100, 80), np.uint8)
    options = {"nodata": 255, "chunk": (64, 64)}
    write_zarr(tmp_path / "l.zarr", parts_of(labels), (100, 80), labels.dtype, ome=False, **options)
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "l.zarr")[:], labels)


def test_labels_as_an_image_have_levels(tmp_path):
    labels = np.random.default_rng(0).integers(0, 4, (600, 70), np.uint8)
    options = {"nodata": 255, "chunk": (64, 64)}
    write_zarr(tmp_path / "l.zarr", parts_of(labels), (600, 70), labels.dtype, ome=True, **options)
    group = zarr.open_group(tmp_path / "l.zarr")
    np.testing.assert_array_equal(group["2"][:], labels[::4, ::4])
    source = open_zarr(tmp_path / "l.zarr")
    assert source.is_ome
    np.testing.assert_array_equal(source.read((slice(0, 600), slice(0, 70))), labels)


def test_chunks_divide_blocks():
    assert chunk_size((1024, 320)) == (512, 320)
    assert chunk_size((112, 96, 16)) == (16, 48, 16)
