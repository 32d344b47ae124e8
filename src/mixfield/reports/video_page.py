"""The page of a segmented video: time slider, the chosen mode beside mean field, and the trellis of chosen modes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield._labels import label_name
from mixfield.errors import MixfieldError
from mixfield.reports.data_uri import photo_uri, png_uri, subsampled
from mixfield.reports.page import Page, legend, percent
from mixfield.reports.palette import label_colors
from mixfield.reports.segmentation_figure import displayed
from mixfield.reports.sequence import play_interval, time_slider, trellis_section

FRAME_SIDE = 480  # pixels of the longer side of a frame on the page
MAX_LABELS = 256


@dataclass(frozen=True, eq=False)
class VideoFrame:
    """One frame of a video with its modes.

    Attributes
    ----------
    image : (H, W) or (H, W, channels), as for `mixfield.segment`.
    mean_field : (H, W) labels of mean field, for comparison.
    modes : (K, H, W) labels of each mode.
    weights : (K,) their probabilities.
    chosen : index of the chosen mode.
    cost : of the step from the frame before; may be None.
    number : of the frame; by default its index in the sequence.
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
    frames : in order; the page contains an image of each, so give at most a few hundred.
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
        raise MixfieldError("frames must contain at least one frame, got none")
    facts = [_facts(frame, t) for t, frame in enumerate(frames)]
    present = np.unique(np.concatenate([np.unique(np.asarray(frame.modes)) for frame in frames])).tolist()
    labels = {v: label_name(v, names) for v in present if 0 < v < MAX_LABELS}
    return Page(
        title=title,
        kind="video",
        lead=_lead(frames),
        body=_body(len(frames), legend(labels)),
        facts={"frames": facts, "interval": play_interval(frame_rate)},
    ).html()


def _lead(frames: Sequence[VideoFrame]) -> str:
    if all(len(np.asarray(frame.weights)) == 1 for frame in frames):
        return f"{len(frames)} frames with one segmentation each."
    switched = sum(frame.chosen > 0 for frame in frames)
    return (
        f"{len(frames)} frames with several modes each, of which one is chosen by consistency over time. In "
        f"{switched} of them ({percent(switched / len(frames))}) it is not the heaviest."
    )


def _facts(frame: VideoFrame, index: int) -> dict[str, object]:
    """A frame as plain numbers and images for the script."""
    photo, modes, single = displayed(frame.image), np.asarray(frame.modes), np.asarray(frame.mean_field)
    weights = _arrays.floats("weights", frame.weights)
    _arrays.check_shape(f"modes of frame {index}", modes, (len(weights), *photo.shape[:2]), "= (K, H, W)")
    _arrays.check_shape(f"mean_field of frame {index}", single, photo.shape[:2], "= (H, W)")
    if not 0 <= frame.chosen < len(weights):
        raise MixfieldError(f"chosen of frame {index} must lie in 0..{len(weights) - 1}, got {frame.chosen}")
    return {
        "number": index if frame.number is None else frame.number,
        "photo": photo_uri(subsampled(photo, FRAME_SIDE)),
        "single": _labels_uri(single),
        "modes": [_labels_uri(labels) for labels in modes],
        "weights": weights.tolist(),
        "chosen": int(frame.chosen),
        "differs": [float((labels != single).mean()) for labels in modes],
        "cost": frame.cost,
    }


def _labels_uri(labels: NDArray[np.integer]) -> str:
    return png_uri(subsampled(labels.astype(np.uint8), FRAME_SIDE), label_colors(), transparent=0)


def _body(frames: int, labels: str) -> str:
    return f"""<section aria-label="frames">
<div class="cameras">
<figure><div class="stack"><img class="photo" alt="frame"><img class="over" id="chosen" alt="labels of the mode"
 style="opacity:.6"></div><figcaption id="chosen-title"></figcaption></figure>
<figure><div class="stack"><img class="photo" alt="frame"><img class="over" id="single" alt="labels of mean field"
 style="opacity:.6"></div><figcaption>mean field</figcaption></figure></div>
{time_slider(frames)}
<div class="row"><label for="opacity">opacity</label>
<input type="range" id="opacity" min="0" max="100" value="60"></div>
{labels}</section>
{trellis_section()}"""
