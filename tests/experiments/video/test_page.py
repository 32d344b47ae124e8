"""The page about videos."""

from __future__ import annotations

from experiments.video.page import claims, page_text

SCORES = {"mean field": 50.0, "modes + temporal": 53.0, "best mode": 60.0}
MEAN_IOU = {"davis one": SCORES, "davis two": SCORES | {"modes + temporal": 52.0}, "davis": SCORES}


def test_claims_are_about_sequences():
    first, second = claims(MEAN_IOU)
    assert (first.measured, first.verdict) == (
        "+2.50 on average over sequences, +2.00 at worst (davis two)",
        "confirmed",
    )
    assert (second.measured, second.verdict) == ("+10.00", "confirmed")


def test_reductions_are_stated():
    made_by = {"command": "x", "step": 3, "every": 2}
    text = page_text({"made_by": made_by, "mean_iou": MEAN_IOU}, 7)
    assert "means of blocks of 3 x 3 pixels.\nOf each sequence one frame in 2 is used." in text
    assert "| davis two | 50.00 | 52.00 | 60.00 |" in text
    assert "Made by `x`, 7 frames." in text
    assert "blocks of" not in page_text({"made_by": made_by | {"step": 1, "every": 1}, "mean_iou": MEAN_IOU}, 7)
