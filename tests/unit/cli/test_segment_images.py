"""The work on one image."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

import mixfield as mf
from mixfield.cli.segment_images import SegmentImage


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 255, (9, 12), np.uint8)).save(tmp_path / "a.png")
    np.save(tmp_path / "a.npy", rng.uniform(0.1, 0.9, (9, 12, 3)).astype(np.float32))
    return tmp_path / "a.png", tmp_path / "a.npy"


def test_threads_change_neither_results_nor_settings(files, tmp_path):
    works = [SegmentImage(2, {}, {"logits": False}, 0, threads) for threads in (None, 1, 3)]
    assert works[0].settings() == works[1].settings() == works[2].settings()
    for k, work in enumerate(works):
        facts = work(files, tmp_path / str(k))
        assert facts["shape"] == [9, 12]
    first, *others = (mf.load(tmp_path / str(k) / "a" / "result.npz") for k in range(3))
    for other in others:
        np.testing.assert_array_equal(other.marginals(), first.marginals())


def test_settings_change_with_what_results_depend_on():
    default = SegmentImage(2, {}, {"logits": False}, 0, None)
    for changed in (
        SegmentImage(3, {}, {"logits": False}, 0, None),
        SegmentImage(2, {"kernels": mf.Kernels(weight=2.0)}, {"logits": False}, 0, None),
        SegmentImage(2, {}, {"logits": True}, 0, None),
        SegmentImage(2, {}, {"logits": False}, 1, None),
    ):
        assert changed.settings() != default.settings()
