"""Gains over mean field, paired with other methods."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.segmentation import gains


def _row(method, image, ious, spent=(1, 2, 3, 4), wanted=4, net="dl513"):
    row = {"net": net, "set": "voc", "image": str(image), "method": method, "wanted": wanted}
    return row | {"mean_field": 0.5, "ious": ious, "spent": list(spent)}


ROWS = [
    *(_row("ours", k, [0.5, 0.4, 0.6, 0.7]) for k in range(6)),
    *(_row("DivMBest 0.5", k, [0.5, 0.6, 0.6, 0.6]) for k in range(6)),
    *(_row("DivMBest 1", k, [0.5, 0.9, 0.9, 0.9]) for k in range(2)),
    *(_row("noise 1", k, [0.5, 0.5, 0.5, 0.5]) for k in range(6)),
    *(_row("paper", k, [0.5, 0.5, 0.5, 0.5]) for k in range(3)),
]


def test_gain_is_never_negative():
    assert gains.gain(_row("ours", 0, [0.4, 0.3, 0.6]), 2) == 0
    assert gains.gain(_row("ours", 0, [0.4, 0.3, 0.6]), 3) == pytest.approx(10)


def test_methods_need_enough_images():
    """Five for a method, half of ours for a strength."""
    assert set(gains.common_images(ROWS)["dl513"]) == {"ours", "DivMBest 0.5", "noise 1"}
    assert gains.common_images(ROWS[:6]) == {}


def test_gains_at_each_count():
    table = gains.gains(ROWS)["dl513"]
    np.testing.assert_allclose(table["ours"][0], [0, 0, 20])  # K = 1, 2, 4
    np.testing.assert_allclose(gains.leads(ROWS[:6], ROWS[6:12])[0], [0, -10, 10])
    assert gains.best_strength(table, "DivMBest") == "DivMBest 0.5"


def test_equal_calls():
    slow = [_row("ours", k, [0.5, 0.6], spent=(2, 3.5), wanted=2) for k in range(6)]
    rows = [*slow, *ROWS[6:12], *ROWS[14:20]]
    found = gains.at_equal_calls(rows, 2)["dl513"]
    assert found["DivMBest 0.5"][0] == pytest.approx([10, 10, 3])  # three segmentations cost no more than 3.5
    assert gains.at_equal_calls(rows, 4)["dl513"] == {}


def test_calls_per_mode():
    assert gains.calls_per_mode(ROWS[:2]) == 1.0
