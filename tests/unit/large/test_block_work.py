"""The work on a block: what a batch gets, and which requests are refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from large_images import SMALL, several_blocks

from mixfield.apps.blocks import blocks_of
from mixfield.errors import MixfieldError
from mixfield.large.axes import matched
from mixfield.large.block_evidence import ScoreOptions
from mixfield.large.block_field import FieldOptions
from mixfield.large.block_files import block_path, read_labels
from mixfield.large.block_work import segment_block
from mixfield.large.sources import InMemory


def work_on(shape=(80, 112), labels=3, field=FieldOptions(kernels=SMALL), halo=None):  # noqa: B008
    image, scores = (InMemory(array) for array in several_blocks(shape, labels))
    return segment_block(*matched(image, scores), ScoreOptions(), field, halo)


def test_a_pickled_copy_writes_labels_and_returns_facts(tmp_path):
    work = pickle.loads(pickle.dumps(work_on()))
    block = blocks_of((80, 112), (48, 48), work.halo)[1]
    facts = work(block, tmp_path)
    labels = read_labels(block_path(tmp_path, block.name))
    assert labels.shape == (48, 48)
    assert facts["pixels"] == labels.size
    assert facts["converged"] is True


def test_the_halo_and_the_type_of_labels():
    assert work_on().halo == 32
    assert work_on(halo=5).halo == 5
    assert (work_on().dtype, work_on().nodata) == (np.uint8, 255)
    assert (work_on((16, 16), 300).dtype, work_on((16, 16), 300).nodata) == (np.uint16, 65535)


def test_refused():
    with pytest.raises(MixfieldError, match="volume"):
        work_on((8, 8, 8), field=FieldOptions(2, kernels=SMALL))
    with pytest.raises(MixfieldError, match="halo"):
        work_on(halo=-1)
