"""Shares of labels, summed over windows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mixfield as mf
from mixfield.apps.field_model import label_shares
from mixfield.large.label_shares import joined_shares, window_sums


def test_windows_add_up_to_the_whole():
    probs = np.random.default_rng(0).dirichlet([4.0, 1.0, 1.0, 0.01], (20, 30))
    probs[..., 3] *= 0.1  # nowhere the most probable one
    parts = [probs[:8], probs[8:, :11], probs[8:, 11:]]
    found = joined_shares(window_sums(part.reshape(-1, 4)) for part in parts)
    np.testing.assert_allclose(found, label_shares(probs), rtol=1e-12)
    assert found[3] == 0


@pytest.mark.parametrize("lazy", [False, True])
def test_blocks_have_the_balance_of_the_whole(tmp_path, lazy):
    """A small object in one block: with shares of single blocks its border would be another."""
    rows, columns = np.mgrid[:96, :160]
    distance = np.hypot(rows - 40, columns - 44)
    image = np.full((96, 160, 3), 100, np.uint8)
    p = 1 / (1 + np.exp((distance - 16) / 4))
    scores = np.stack([1 - p, p], -1).astype(np.float32)
    kernels = mf.Kernels(smooth_weight=0.5, sxy=6.0, srgb=20.0, weight=0.5)
    model = replace(mf.FieldModel.default(), kernels=kernels, search=None, balance=0.3)
    whole = mf.segment(image, scores, n_modes=1, model=model).labelings()[0]
    plain = mf.segment(image, scores, n_modes=1, kernels=kernels).labelings()[0]
    options = {"n_modes": 1, "model": model, "block": 48, "halo": 24}
    if lazy:
        dask = pytest.importorskip("dask.array")
        labels = mf.segment_large(dask.from_array(image, 50), dask.from_array(scores, 50), **options).compute()
    else:
        labels = np.load(mf.segment_large(image, scores, tmp_path / "labels.npy", **options).out)
    assert (labels == whole).mean() > 0.999
    assert (plain == whole).mean() < 0.99  # the balance matters
