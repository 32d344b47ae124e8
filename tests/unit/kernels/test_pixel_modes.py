"""Where pairs of a pixel and a mode lie; the update itself is tested in test_softmax.py."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.kernels import pixel_modes

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize(("n_modes", "count"), [(1, 8), (1, 3), (3, 5), (4, 2), (5, 1), (8, 3)])
def test_pair_offsets(n_modes, count):
    channels, n_labels, width = 24, 3, 64
    offsets = np.empty((4, width), np.int32)
    pixel_modes.pair_offsets(n_modes, channels, n_labels, count, offsets)
    pairs = [(p, k) for p in range(count) for k in range(n_modes)]
    for c, (p, k) in enumerate(pairs):
        assert offsets[:, c].tolist() == [p * channels + k, p * n_labels, p * n_labels * n_modes + k, p]
    # what fills the last register repeats pairs of the same register, so that nothing else is written
    used = -(-len(pairs) // 8) * 8
    real = {tuple(column) for column in offsets[:, used - 8 : len(pairs)].T.tolist()}
    assert {tuple(column) for column in offsets[:, used - 8 : used].T.tolist()} == real
