"""The file of a block: what is written is read, and the same result gives the same bytes."""

from __future__ import annotations

import numpy as np
from large_images import several_blocks
from local_questions import box, parts_of

from mixfield.large.block_field import BlockResult
from mixfield.large.block_files import block_path, read_alternatives, read_labels, write_block


def test_there_and_back(tmp_path):
    labels = several_blocks((32, 32))[0][..., 0]
    (one,) = parts_of(box(slice(5, 20), slice(20, 80)), new=2, asking=(0,))["00000_00000"]
    path = block_path(tmp_path, "00000_00000")
    write_block(path, BlockResult(labels, 1.5, (one,), True))
    np.testing.assert_array_equal(read_labels(path), labels)
    (read,) = read_alternatives(path)
    assert (read.window, read.old, read.new, read.probability) == (one.window, one.old, one.new, one.probability)
    assert (read.pixels, read.cut_off) == (one.pixels, one.cut_off)
    np.testing.assert_array_equal(read.changed, one.changed)
    np.testing.assert_array_equal(read.labels[read.changed], one.labels[one.changed])


def test_the_same_result_gives_the_same_bytes(tmp_path):
    labels = several_blocks((32, 32))[0][..., 0]
    for name in "ab":
        write_block(tmp_path / f"{name}.npz", BlockResult(labels, 0.0, (), True))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert read_alternatives(tmp_path / "a.npz") == ()
