"""The second mode vanishes where U / 2 predicts, not where the printed U does."""

from __future__ import annotations

import pytest

from experiments.temperature.constant_unary import UNARIES, measure


@pytest.mark.parametrize("unary", UNARIES)
def test_half_of_the_unary_belongs_inside_the_tanh(unary):
    row = measure(unary)
    assert row["measured"] == pytest.approx(row["predicted"], abs=0.02)
    if unary:
        assert abs(row["measured"] - row["predicted_as_printed"]) > 0.3
