"""Figures by Matplotlib."""

from __future__ import annotations

import pytest

from experiments.plotting import save_figure, subplots


def test_unused_axes_are_removed_and_bytes_repeat(tmp_path):
    pytest.importorskip("matplotlib")
    for name in ("a.svg", "b.svg"):
        with subplots(3, 2, (2.0, 1.0)) as (figure, axes):
            assert len(axes) == len(figure.axes) == 3
            assert tuple(figure.get_size_inches()) == (4.0, 2.0)
            axes[0].plot([1, 2, 3])
            save_figure(figure, tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
