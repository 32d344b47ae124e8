"""The page about the four zones."""

from __future__ import annotations

from experiments.motivation.page import page_text


def test_a_row_per_drawing():
    row = {"seed": 3, "mean_field_certainty": 0.99, "weights": [0.8, 0.2], "log_odds": 1.5, "exact_log_odds": -1.25}
    row |= {"kl_mean_field": 2.0, "kl_two_modes": 0.5}
    made_by = {"command": "python -m experiments motivation", "versions": {"mixfield": "9"}, "seeds": "3"}
    text = page_text({"made_by": made_by, "claims": [], "drawings": [row]})
    assert "| 3 | 0.990 | 0.80 / 0.20 | +1.50 | -1.25 | 2.00 | 0.50 |" in text
    assert "Seeds: 3; the figure shows the first. mixfield 9." in text
