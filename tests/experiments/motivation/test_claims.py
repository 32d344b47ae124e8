"""The verdicts on the claims of section 3."""

from __future__ import annotations

from experiments.motivation.claims import claims

GOOD = {
    "mean_field_certainty": 0.99,
    "mean_field_has_one_label": True,
    "exactly_the_quarter_flips": True,
    "weights": [0.5, 0.5],
    "log_odds": 0.1,
    "exact_log_odds": 0.1,
    "kl_mean_field": 2.0,
    "kl_two_modes": 1.0,
    "marginal_error_mean_field": 0.4,
    "marginal_error_two_modes": 0.1,
}
BAD = {
    "mean_field_has_one_label": False,
    "exactly_the_quarter_flips": False,
    "weights": [0.9, 0.1],
    "log_odds": 3.0,
    "kl_two_modes": 2.5,
}


def test_all_hold():
    assert [claim.verdict for claim in claims([GOOD] * 10)] == ["confirmed"] * 5


def test_none_holds():
    verdicts = [claim.verdict for claim in claims([GOOD | BAD] * 10)]
    assert verdicts == ["not confirmed"] * 2 + ["likely, not equally"] + ["not confirmed"] * 2


def test_drawings_with_two_labels_are_mentioned():
    first, *_ = claims([GOOD] * 9 + [GOOD | BAD])
    assert first.verdict == "mostly confirmed"
    assert "9 of 10 drawings; in the others" in first.measured
