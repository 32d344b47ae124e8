"""What the pages of sequences share."""

from __future__ import annotations

import pytest

from mixfield.reports.sequence import play_interval, time_slider, trellis_section


@pytest.mark.parametrize(("rate", "milliseconds"), [(None, 125), (4.0, 250), (1000.0, 40)])
def test_interval_between_frames(rate, milliseconds):
    assert play_interval(rate) == milliseconds


def test_slider_ends_at_the_last_frame():
    assert 'max="6"' in time_slider(7)
    assert 'max="0"' in time_slider(0)
    assert 'id="trellis"' in trellis_section()
