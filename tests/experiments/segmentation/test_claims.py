"""The verdicts on the claims of section 7.3."""

from __future__ import annotations

import pytest

from experiments.segmentation.claims import claims


def _methods(gain, lead):
    ours = {"mean": [0.0, gain], "interval": [[0, 0], [gain - 1, gain + 1]], "images": 9}
    other = {"behind ours": [[0, 0, 0], [lead, lead - 0.5, lead + 0.5]], "mean": [0.0, 0.5], "images": 9}
    return {"ours": ours, "DivMBest 1": other, "noise 2": other, "tuned": ["DivMBest 1", "noise 2"]}


@pytest.mark.parametrize(
    ("gain", "lead", "verdicts"),
    [
        (4.0, 3.0, ["confirmed"] * 3),
        (1.0, -1.0, ["not confirmed"] * 3),
        (2.5, 1.5, ["open: the interval holds both"] * 2 + ["confirmed"]),
    ],
)
def test_verdicts_follow_the_intervals(gain, lead, verdicts):
    found = claims({"full resolution": {"dl257": _methods(gain, lead)}})
    assert [claim.verdict for claim in found] == verdicts
    assert found[0].claim.startswith("weak network (dl257): best of 32 modes")
    assert found[1].measured.endswith("against DivMBest 1")


def test_single_pixels_gain_nothing():
    methods = _methods(4.0, 3.0)
    methods["single pixels"] = methods["DivMBest 1"]
    assert claims({"full resolution": {"dl513": methods}})[-1].verdict == "not confirmed"  # it gains half a point


def test_two_sizes_are_one_row():
    parts = {"full resolution": {"dl513": _methods(4.0, 3.0)}, "a third of the size": {"dl513": _methods(4.0, 1.5)}}
    first, second, *_ = claims(parts)
    assert first.measured.startswith("full resolution: +4.00 [+3.00, +5.00]")
    assert "; a third of the size: +4.00 [+3.00, +5.00]" in first.measured
    assert first.verdict == "confirmed"
    assert second.verdict == "confirmed; a third of the size: open: the interval holds both"


def test_selections_of_images_have_no_claims():
    assert claims({"every seventh image, full resolution": {"dl513": _methods(4.0, 3.0)}}) == []
