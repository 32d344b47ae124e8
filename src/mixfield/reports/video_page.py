"""The page of a segmented video: a scrubber, the chosen mode beside mean field, and the trellis of choices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.errors import MixfieldError
from mixfield.reports.colours import bright, key
from mixfield.reports.page import Page, percent
from mixfield.reports.png import data_uri, indexed_png, photo_uri, smaller
from mixfield.reports.segmentation import displayed
from mixfield.reports.sequence import pause, time_slider, trellis_section

TRELLIS = "Columns are frames, circles modes (the larger the likelier); the line goes through those that were chosen."
SIDE = 480  # pixels of the longer side of a frame on the page


@dataclass(frozen=True, eq=False)
class VideoFrame:
    """One frame of a video with its interpretations.

    Attributes
    ----------
    image : (H, W) or (H, W, channels), as for `mixfield.segment`.
    mean_field : (H, W) labels of the single mean field, to compare with.
    modes : (K, H, W) labels of each mode.
    weights : (K,) their probabilities.
    chosen : the mode that the sequence chose.
    cost : of the step from the frame before, if known.
    number : of the frame; by default its place in the sequence.
    """

    image: ArrayLike
    mean_field: ArrayLike
    modes: ArrayLike
    weights: ArrayLike
    chosen: int
    cost: float | None = None
    number: int | None = None


def video_page(
    frames: Sequence[VideoFrame],
    *,
    names: Sequence[str] = (),
    frame_rate: float | None = None,
    title: str = "Video",
) -> str:
    """The text of a self-contained HTML page about a segmented video.

    Parameters
    ----------
    frames : in order; the page holds a picture of each, so give at most a few hundred.
    names : of the labels.
    frame_rate : frames per second at which the page plays.
    title : heading of the page.

    Examples
    --------
    >>> import numpy as np
    >>> from mixfield.reports.video_page import VideoFrame, video_page
    >>> labels = np.zeros((2, 4, 6), int)
    >>> frame = VideoFrame(np.zeros((4, 6), np.uint8), labels[0], labels, [0.7, 0.3], chosen=1)
    >>> "trellis" in video_page([frame, frame])
    True
    """
    if not frames:
        raise MixfieldError("frames must hold at least one frame")
    facts = [_facts(frame, t) for t, frame in enumerate(frames)]
    switched = sum(frame.chosen > 0 for frame in frames)
    present = np.unique(np.concatenate([np.unique(np.asarray(frame.modes)) for frame in frames]))
    return Page(
        title=title,
        kind="video",
        lead=(
            f"{len(frames)} frames, each with several interpretations; time chooses one. In "
            f"{switched} of them ({percent(switched / len(frames))}) it is not the heaviest."
        ),
        body=_body(len(frames), names, present.tolist()),
        facts={"frames": facts, "pause": pause(frame_rate)},
    ).html()


def _facts(frame: VideoFrame, place: int) -> dict[str, object]:
    picture = displayed(frame.image)
    modes, single = np.asarray(frame.modes), np.asarray(frame.mean_field)
    weights = _arrays.floats("weights", frame.weights)
    _arrays.check_shape(f"modes of frame {place}", modes, (len(weights), *picture.shape[:2]), "= (K, H, W)")
    _arrays.check_shape(f"mean_field of frame {place}", single, picture.shape[:2], "= (H, W)")
    if not 0 <= frame.chosen < len(weights):
        raise MixfieldError(f"chosen of frame {place} must lie in 0..{len(weights) - 1}, got {frame.chosen}")
    return {
        "number": place if frame.number is None else frame.number,
        "photo": photo_uri(smaller(picture, SIDE)),
        "single": _labels_uri(single),
        "modes": [_labels_uri(labels) for labels in modes],
        "weights": weights.tolist(),
        "chosen": int(frame.chosen),
        "differs": [float((labels != single).mean()) for labels in modes],
        "cost": frame.cost,
    }


def _labels_uri(labels: NDArray[np.integer]) -> str:
    return data_uri(indexed_png(smaller(labels.astype(np.uint8), SIDE), bright(), see_through=0))


def _body(frames: int, names: Sequence[str], labels: list[int]) -> str:
    keys = "".join(key(v, escape(names[v] if v < len(names) else f"label {v}")) for v in labels if 0 < v < 256)
    return f"""<section aria-label="frames">
<div class="cameras">
<figure><div class="stack"><img class="photo" alt="frame"><img class="over" id="chosen" alt="labels of the mode"
 style="opacity:.6"></div><figcaption id="chosen-title"></figcaption></figure>
<figure><div class="stack"><img class="photo" alt="frame"><img class="over" id="single" alt="labels of mean field"
 style="opacity:.6"></div><figcaption>mean field, one answer</figcaption></figure></div>
{time_slider(frames)}
<div class="row"><label for="opacity">opacity</label>
<input type="range" id="opacity" min="0" max="100" value="60"></div>
<ul class="keys" aria-label="labels">{keys}</ul></section>
{trellis_section(TRELLIS)}"""
