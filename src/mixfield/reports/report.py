"""`mixfield.report`: any result as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch
from inspect import Parameter, signature
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _files
from mixfield.apps.tracking import Tracks
from mixfield.apps.video import VideoSegmentation
from mixfield.errors import MixfieldError
from mixfield.mixture.posterior import MixturePosterior
from mixfield.reports.field_page import field_page
from mixfield.reports.people_page import people_page, tracks_page
from mixfield.reports.results import report_page
from mixfield.reports.segmentation_page import segmentation_page
from mixfield.reports.track_table import TrackTable
from mixfield.reports.video_page import VideoFrame, video_page
from mixfield.scene.scene import Scene

StrPath = str | PathLike[str]
Frames = Sequence[Any] | Mapping[int, Any]

WHITE = 255


def report(result: Any, path: StrPath, **options: Any) -> Path:
    """Write a result as one self-contained HTML page, which loads nothing from the network.

    Parameters
    ----------
    result : the kind of page depends on its type:

        - `MixturePosterior`: weights, bounds, variables that differ, the tree of cuts; with ``image``, the modes over
          the image.
        - `Tracks`: the tracks from above, with a time slider.
        - `VideoSegmentation`: the chosen mode of each frame beside mean field.
        - posteriors of several frames, a sequence or a mapping from frame numbers, with ``scene``: people on the
          ground plane.
        - a sequence of `mixfield.reports.video_page.VideoFrame`.
        - a path: what ``mixfield solve``, ``segment``, ``detect`` or ``video`` saved.
    path : of the HTML file; it is replaced in one step.
    options : ``title`` for every page, and by the type of ``result``:

        - `MixturePosterior`: ``exact_log_z``, ``names`` (of the variables); with ``image`` instead ``gap``, ``pixels``,
          ``scribbles`` and ``names`` (of the labels), see `mixfield.reports.segmentation_page.segmentation_page`.
        - `VideoSegmentation`: ``images`` and ``posteriors``, as given to `mixfield.segment_video`; ``names``,
          ``frame_rate``.
        - posteriors of several frames: ``scene``, ``pictures`` (for each frame one per camera), ``tracks``.
        - sequence of ``VideoFrame``: ``names``, ``frame_rate``.
        - path: ``image``, ``scene`` and ``tracks`` (paths), ``frames`` (a slice), ``progress``.

    Returns
    -------
    Path
        The path of the page.

    Examples
    --------
    >>> import tempfile
    >>> import mixfield as mf
    >>> posterior = mf.infer(mf.datasets.four_zones(8), n_modes=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mf.report(posterior, f"{folder}/zones.html", title="Four zones").name
    'zones.html'
    """
    _check_options(result, options)
    _files.write_text(path, page_of(result, **options))
    return Path(path)


@singledispatch
def page_of(result: Any, **options: Any) -> str:  # noqa: ARG001
    """The text of the page of a result; ``page_of.register`` adds a type."""
    raise MixfieldError(
        "result must be a MixturePosterior, Tracks, VideoSegmentation, posteriors or VideoFrames of several frames, or "
        f"the path of a saved result, got {type(result).__name__}"
    )


def _check_options(result: Any, options: Mapping[str, Any]) -> None:
    parameters = signature(page_of.dispatch(type(result))).parameters.values()
    accepted = [parameter.name for parameter in parameters if parameter.kind is Parameter.KEYWORD_ONLY]
    unknown = [name for name in options if accepted and name not in accepted]
    if unknown:
        raise MixfieldError(
            f"the report of {type(result).__name__} takes the options {', '.join(accepted)}, got {unknown[0]!r}"
        )


@page_of.register(MixturePosterior)
def _posterior_page(
    result: MixturePosterior,
    *,
    title: str = "Posterior",
    exact_log_z: float | None = None,
    names: Sequence[str] = (),
    image: ArrayLike | None = None,
    gap: ArrayLike | None = None,
    pixels: ArrayLike | None = None,
    scribbles: ArrayLike | None = None,
) -> str:
    if image is None:
        return field_page(result, exact_log_z=exact_log_z, names=names, title=title)
    return segmentation_page(result, image, gap=gap, pixels=pixels, scribbles=scribbles, names=names, title=title)


page_of.register(Tracks, tracks_page)


@page_of.register(VideoSegmentation)
def _video_segmentation_page(
    result: VideoSegmentation,
    *,
    title: str = "Video",
    images: Sequence[ArrayLike | None] | None = None,
    posteriors: Sequence[MixturePosterior | None] | None = None,
    names: Sequence[str] = (),
    frame_rate: float | None = None,
) -> str:
    count = len(result.labels)
    for name, entries in (("images", images), ("posteriors", posteriors)):
        if entries is not None and len(entries) != count:
            raise MixfieldError(f"{name} must have one entry per frame, {count}, got {len(entries)}")
    frames = [
        _video_frame(result, t, None if images is None else images[t], None if posteriors is None else posteriors[t])
        for t in range(count)
        if result.chosen_modes[t] >= 0  # -1 where a frame is missing
    ]
    return video_page(frames, names=names, frame_rate=frame_rate, title=title)


def _video_frame(
    video: VideoSegmentation, t: int, image: ArrayLike | None, posterior: MixturePosterior | None
) -> VideoFrame:
    """A frame with all its modes if the posterior is known, else with the chosen one; white without an image."""
    labels: NDArray[np.int64] = video.labels[t]
    picture = np.full(labels.shape, WHITE, np.uint8) if image is None else image
    if posterior is None:
        return VideoFrame(picture, labels, labels[None], [1.0], chosen=0, number=t)
    modes, chosen = posterior.labelings(), int(video.chosen_modes[t])
    return VideoFrame(picture, modes[posterior.root_mode], modes, posterior.weights, chosen, number=t)


@page_of.register(Sequence)
@page_of.register(Mapping)
def _frames_page(
    result: Frames,
    *,
    title: str | None = None,
    scene: Scene | None = None,
    pictures: Frames | None = None,
    tracks: Tracks | TrackTable | None = None,
    names: Sequence[str] = (),
    frame_rate: float | None = None,
) -> str:
    entries = list(result.values()) if isinstance(result, Mapping) else list(result)
    if entries and all(isinstance(entry, VideoFrame) for entry in entries):
        return video_page(entries, names=names, frame_rate=frame_rate, title=title or "Video")
    if not all(isinstance(entry, MixturePosterior) for entry in entries):
        raise MixfieldError("the entries of result must be MixturePosteriors, or all VideoFrames")
    if scene is None:
        raise MixfieldError("the report of posteriors of several frames needs scene, the Scene they belong to")
    return people_page(
        _by_number(result),
        scene,
        pictures=None if pictures is None else _by_number(pictures),
        tracks=TrackTable.of(tracks) if isinstance(tracks, Tracks) else tracks,
        title=title or "People",
    )


def _by_number(frames: Frames) -> Mapping[int, Any]:
    return frames if isinstance(frames, Mapping) else dict(enumerate(frames))


page_of.register(str, report_page)
page_of.register(PathLike, report_page)
