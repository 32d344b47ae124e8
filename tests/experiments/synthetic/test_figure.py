"""The figure of the page."""

from __future__ import annotations

import pytest

from experiments.synthetic.figure import CURVES, _panel, family_of, write_figure


def test_panel_of_an_entry(summaries):
    panel = _panel(summaries[0].as_json())
    assert panel.title == "7 x 7, mixed grid, mmmf, n = 3"
    assert [curve.name for curve in panel.curves] == [name for name, *_ in CURVES]
    assert panel.ticks == [1, 2, 4, 8]
    assert panel.log_y
    for curve in panel.curves:
        assert all(low <= y <= high for y, (low, high) in zip(curve.y, curve.interval, strict=True))


def test_files(summaries, tmp_path):
    pytest.importorskip("matplotlib")
    entries = [entry.as_json() for entry in summaries]
    assert family_of(entries[0]) == summaries[0].family
    write_figure(entries, tmp_path)
    assert (tmp_path / "synthetic.svg").stat().st_size > 10_000
    assert (tmp_path / "synthetic.png").read_bytes().startswith(b"\x89PNG")
