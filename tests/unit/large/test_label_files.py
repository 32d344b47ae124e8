"""Files of labels: the three formats hold the same labels, and appear complete."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.apps.blocks import blocks_of
from mixfield.errors import MixfieldError
from mixfield.large.geotiff import Georeference
from mixfield.large.label_files import LabelFile, check_path
from mixfield.large.sources import open_source

SHAPE, SIZE = (80, 112), (32, 48)
LABELS = np.random.default_rng(0).integers(0, 5, SHAPE, np.uint8)


def write(path, labels_of=lambda block: LABELS[block.core]):
    file = LabelFile(SHAPE, SIZE, np.dtype(np.uint8), 255, Georeference(), ome=False)
    file.write(path, blocks_of(SHAPE, SIZE, 0), labels_of)


@pytest.mark.parametrize("suffix", [".npy", ".zarr", ".tif"])
def test_labels_are_read_again(tmp_path, suffix):
    for _ in range(2):  # the second time they replace the first
        write(tmp_path / f"a{suffix}")
    source = open_source("labels", tmp_path / f"a{suffix}")
    window = tuple(slice(0, length) for length in source.shape)
    np.testing.assert_array_equal(source.read(window).reshape(SHAPE), LABELS)
    assert [path.name for path in tmp_path.iterdir()] == [f"a{suffix}"]


@pytest.mark.parametrize("suffix", [".npy", ".zarr", ".tif"])
def test_a_failure_leaves_the_old_file(tmp_path, suffix):
    def fail(block):
        if block.index[0] == 1:
            raise OSError("no more")
        return LABELS[block.core]

    write(tmp_path / f"a{suffix}")
    with pytest.raises(OSError, match="no more"):
        write(tmp_path / f"a{suffix}", fail)
    assert [path.name for path in tmp_path.iterdir()] == [f"a{suffix}"]


def test_wrong_paths_are_refused(tmp_path):
    with pytest.raises(MixfieldError, match=r"got a\.png"):
        check_path(tmp_path / "a.png", 2)
    with pytest.raises(MixfieldError, match="volume"):
        check_path(tmp_path / "a.tif", 3)
    with pytest.raises(MixfieldError, match="does not exist"):
        check_path(tmp_path / "no" / "a.npy", 2)
