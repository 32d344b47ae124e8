"""What the pages of sequences share: a time slider, the modes of a frame, and the trellis of chosen modes."""

from __future__ import annotations

from mixfield.reports.page import section

DEFAULT_RATE, MAX_RATE = 8.0, 25.0  # frames per second at which a page plays

TRELLIS = (
    "<p>Columns are frames, circles are modes (larger for larger weights); the line connects the chosen modes.</p>"
    '<div class="scroll" id="trellis" tabindex="0" role="region" aria-label="trellis of modes"></div>'
)


def time_slider(frames: int) -> str:
    """The slider, the play button, the text about the current frame and the buttons of its modes."""
    return (
        '<div class="time"><button type="button" id="play" aria-pressed="false">Play</button>'
        f'<input type="range" id="time" min="0" max="{max(frames - 1, 0)}" value="0" aria-label="frame"></div>'
        '<p class="status" id="status" aria-live="polite"></p>'
        '<div class="row" id="frame-modes" role="group" aria-label="modes of this frame"></div>'
    )


def trellis_section() -> str:
    """The section in which the script draws the trellis."""
    return section("trellis-title", "One mode per frame", TRELLIS)


def play_interval(frame_rate: float | None) -> int:
    """Milliseconds between frames when the page plays."""
    return round(1000 / min(frame_rate or DEFAULT_RATE, MAX_RATE))
