"""The page about videos."""

from __future__ import annotations

from experiments.video.page import claims, page_text

SCORES = {"mean field": 50.0, "by weight": 50.0, "random": 40.0, "temporal": 54.0, "left out": 53.0, "best mode": 60.0}
RESULTS = {
    "made_by": {"command": "x", "step": 3, "every": 2},
    "frames": 7,
    "mean_iou": {"model one": SCORES, "model two": SCORES | {"left out": 52.0}},
    "share": {name: {"model": [0.31, 0.2, 0.4], "deeplab": [0.3, 0.1, 0.5]} for name in ("hard", "all")},
    "thinned": {"model": [0.2, -0.1], "deeplab": [0.1, 0.0]},
    "calibration": {"changes": 3, "stated": 0.6, "better": 0.7},
}


def test_claims_are_about_sequences_left_out():
    first, second, third = claims(RESULTS)
    measured = "+2.50 on average over sequences, +2.00 at worst (model two)"
    assert (first.measured, first.verdict) == (measured, "confirmed")
    assert (second.measured, second.verdict) == ("+10.00", "confirmed")
    assert (third.measured, third.verdict) == ("30 % on hard sequences", "confirmed")


def test_reductions_are_stated():
    text = page_text(RESULTS)
    assert "means of blocks of 3 x 3 pixels.\nOf each sequence one frame in 2 is used." in text
    assert "| model two | 50.00 | +0.00 | -10.00 | +4.00 | +2.00 | +10.00 |" in text
    assert "| hard | 31 % [20, 40] | 30 % [10, 50] |" in text
    assert "Made by `x`, 7 frames." in text
    whole = page_text(RESULTS | {"made_by": {"command": "x", "step": 1, "every": 1}})
    assert "blocks of" not in whole
