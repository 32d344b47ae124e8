"""Figures of curves."""

from __future__ import annotations

import pytest

from experiments.curves import Curve, Mark, Panel, write_curves

pytest.importorskip("matplotlib")
CURVES = [
    Curve("one", [1, 2, 4], [0.1, 0.2, 0.5], interval=[(0.0, 0.2), (0.1, 0.3), (0.4, 0.6)]),
    Curve("two", [1, 2, 4], [0.3, 0.2, 0.1], dashed=True, colour="#123456"),
]


def test_the_same_curves_give_the_same_bytes(tmp_path):
    panel = Panel("title", "x axis", "y axis", CURVES, marks=[Mark("limit", 3.0)], ticks=[1, 2, 4], top=0.7)
    for name in ("a.svg", "b.svg"):
        write_curves(tmp_path / name, [panel, panel], columns=1, shared_legend=True)
    text = (tmp_path / "a.svg").read_text()
    assert text == (tmp_path / "b.svg").read_text()
    assert text.count(">title<") == 2
    assert text.count(">one<") == 1  # one legend for both panels
    assert "#123456" in text
    assert ">limit<" in text


@pytest.mark.parametrize(("high", "label"), [(0.15, "0.12"), (10.0, "0.2"), (1000.0, "100")])
def test_logarithmic_axes_have_decimal_numbers(tmp_path, high, label):
    curve = Curve("c", [1, 10], [0.1, high])
    write_curves(tmp_path / "a.svg", [Panel("t", "x", "y", [curve], log_x=True, log_y=True, bottom=0.1)])
    assert f">{label}<" in (tmp_path / "a.svg").read_text()
