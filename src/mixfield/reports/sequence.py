"""What pages about sequences share: a time slider, the modes of a frame, and the trellis of chosen modes."""

from __future__ import annotations


def time_slider(frames: int) -> str:
    """The slider, the play button and the sentence about the frame."""
    return (
        '<div class="time"><button type="button" id="play" aria-pressed="false">Play</button>'
        f'<input type="range" id="time" min="0" max="{max(frames - 1, 0)}" value="0" aria-label="frame"></div>'
        '<p class="say" id="say" aria-live="polite"></p>'
        '<div class="row" id="frame-modes" role="group" aria-label="modes of this frame"></div>'
    )


def trellis_section(sentence: str) -> str:
    """The place of the trellis, which the script draws."""
    return (
        '<section aria-labelledby="trellis-title"><h2 id="trellis-title">One mode per frame</h2>'
        f'<p>{sentence}</p><div class="scroll" id="trellis" tabindex="0" role="region" aria-label="trellis of modes">'
        "</div></section>"
    )


def pause(frame_rate: float | None) -> int:
    """Milliseconds between frames when the page plays."""
    return round(1000 / min(frame_rate or 8.0, 25.0))
