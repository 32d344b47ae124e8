"""Dask arrays in and out: the same labels as by files, computed when asked for."""

from __future__ import annotations

import numpy as np
import pytest
from large_images import SMALL, several_blocks

import mixfield as mf
from mixfield.errors import MixfieldError

dask_array = pytest.importorskip("dask.array")
OPTIONS = {"n_modes": 1, "kernels": SMALL, "block": 32}


@pytest.mark.parametrize("first", [False, True])
def test_lazy_labels_are_those_of_a_file(tmp_path, first):
    image, scores = several_blocks()
    given = np.moveaxis(scores, -1, 0) if first else scores
    lazy = mf.segment_large(dask_array.from_array(image, chunks=30), dask_array.from_array(given, chunks=30), **OPTIONS)
    assert (lazy.shape, lazy.dtype, lazy.chunksize) == ((80, 112), np.uint8, (32, 32))
    mf.segment_large(image, scores, tmp_path / "a.npy", progress=False, **OPTIONS)
    np.testing.assert_array_equal(lazy.compute(scheduler="sync"), np.load(tmp_path / "a.npy"))


def test_only_the_blocks_that_are_asked_for_are_read():
    image, scores = several_blocks()
    read = []

    def look(part, block_info=None):
        read.append(block_info[0]["chunk-location"])
        return part

    watched = dask_array.from_array(scores, chunks=(16, 112, 3)).map_blocks(look, dtype=scores.dtype)
    lazy = mf.segment_large(dask_array.from_array(image), watched, **OPTIONS)
    assert read == []
    lazy[:10, :10].compute(scheduler="sync")
    assert {place[0] for place in read} == {0, 1, 2, 3}  # of five


def test_refused():
    image, scores = several_blocks()
    with pytest.raises(MixfieldError, match="out must be given"):
        mf.segment_large(image, scores, **OPTIONS)
    with pytest.raises(MixfieldError, match="n_modes must be 1"):
        mf.segment_large(dask_array.from_array(image), dask_array.from_array(scores), n_modes=2, kernels=SMALL)
