"""The figure of the page."""

from __future__ import annotations

import pytest

from experiments.generic.figure import _panel, write_figure
from experiments.generic.methods import EXACT, OURS, SAMPLER


def test_exact_methods_are_marks(models, tmp_path):
    pytest.importorskip("matplotlib")
    panel = _panel(models, "log_z_error", "error")
    assert [mark.name for mark in panel.marks] == [EXACT]
    markers = {curve.name: curve.marker for curve in panel.curves}
    assert (markers[OURS], markers[SAMPLER]) == ("o", "s")
    write_figure(models, tmp_path)
    assert (tmp_path / "generic.svg").stat().st_size > 10_000
    assert (tmp_path / "generic.png").read_bytes().startswith(b"\x89PNG")
