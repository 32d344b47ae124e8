"""The page of people on a ground plane: cameras with boxes, the ground from above, tracks, the mode of each frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.apps.detection import positions
from mixfield.apps.tracking import Tracks
from mixfield.errors import MixfieldError
from mixfield.mixture.posterior import MixturePosterior
from mixfield.reports.data_uri import photo_uri, png_uri, subsampled
from mixfield.reports.page import Page, percent
from mixfield.reports.sequence import play_interval, time_slider, trellis_section
from mixfield.reports.track_table import TrackTable
from mixfield.scene.ground import Ground
from mixfield.scene.scene import Scene

Image = NDArray[np.generic]
Floats = NDArray[np.float64]
Positions = set[tuple[float, ...]]

PICTURE_SIDE = 384  # pixels of the longer side of a camera picture on the page
MASK_LEVEL = 200  # grey level of the foreground of a mask
COLORS = "Green people are in every mode of a frame, orange people only in some."


def people_page(
    posteriors: Mapping[int, MixturePosterior],
    scene: Scene,
    *,
    pictures: Mapping[int, Sequence[Image]] | None = None,
    tracks: TrackTable | None = None,
    title: str = "People",
) -> str:
    """The text of a self-contained HTML page about people on a ground plane.

    Parameters
    ----------
    posteriors : by frame number, from `mixfield.detect`.
    scene : their scene.
    pictures : by frame number, one per camera: (H, W) masks or grey levels, or (H, W, 3) red, green and blue.
    tracks : through the same frames, in the same order.
    title : heading of the page.
    """
    numbers = sorted(posteriors)
    if not numbers:
        raise MixfieldError("posteriors must contain at least one frame, got none")
    if tracks is not None and len(tracks.chosen_modes) != len(numbers):
        raise MixfieldError(
            f"tracks must have the frames of posteriors, {len(numbers)}, got {len(tracks.chosen_modes)} frames"
        )
    chosen = [0] * len(numbers) if tracks is None else tracks.chosen_modes.tolist()
    frames = [
        _frame(posteriors[number], scene, pictures[number] if pictures is not None else ())
        | {"number": number, "chosen": mode}
        for number, mode in zip(numbers, chosen, strict=True)
    ]
    cameras = [] if pictures is None else _cameras(scene)
    return _page(frames, scene.ground, scene.interest, cameras, tracks, title)


def tracks_page(tracks: Tracks, *, title: str = "Tracks") -> str:
    """The text of a self-contained HTML page about tracks alone.

    Parameters
    ----------
    tracks : from `mixfield.track`.
    title : heading of the page.
    """
    chosen, weights = tracks.chosen_modes.tolist() or [0], tracks.weights or (np.ones(1),)
    frames = [
        {"number": t, "weights": each.tolist(), "chosen": mode, "people": [], "boxes": [], "pictures": []}
        for t, (mode, each) in enumerate(zip(chosen, weights, strict=True))
    ]
    whole = np.ones(tracks.ground.shape, bool)
    return _page(frames, tracks.ground, whole, [], TrackTable.of(tracks), title)


def _page(
    frames: Sequence[dict[str, Any]],
    ground: Ground,
    interest: NDArray[np.bool_],
    cameras: Sequence[dict[str, Any]],
    tracks: TrackTable | None,
    title: str,
) -> str:
    return Page(
        title=title,
        kind="people",
        lead=_lead(frames, tracks),
        body=_body(ground, len(frames), tracks, cameras),
        facts={
            "frames": frames,
            "cameras": cameras,
            "ground": _ground(ground, interest),
            "tracks": [] if tracks is None else tracks.facts(),
            "interval": play_interval(None if tracks is None else tracks.frame_rate),
        },
    ).html()


def _lead(frames: Sequence[dict[str, Any]], tracks: TrackTable | None) -> str:
    colors = COLORS if frames[0]["people"] else ""
    if tracks is None:
        return f"{len(frames)} frames with several modes each. {colors}"
    switched = sum(frame["chosen"] > 0 for frame in frames)
    return (
        f"{tracks.count} tracks through {len(frames)} frames; in {switched} of the frames "
        f"({percent(switched / len(frames))}) the chosen mode is not the heaviest. {colors}"
    )


def _frame(posterior: MixturePosterior, scene: Scene, pictures: Sequence[Image]) -> dict[str, Any]:
    """Weights, people and boxes of each mode of a frame, and its pictures, for the script."""
    found = [positions(mode, scene) for mode in posterior.modes]
    in_all = common_positions(found)
    return {
        "weights": posterior.weights.tolist(),
        "people": [[[*np.round(p, 3).tolist(), int(tuple(p) in in_all)] for p in people] for people in found],
        "boxes": [_boxes(people, scene, in_all) for people in found] if len(pictures) else [],
        "pictures": [_picture_uri(picture) for picture in pictures],
    }


def common_positions(found: Sequence[Floats]) -> Positions:
    """The positions that every one of several arrays (k, 2) contains."""
    return set.intersection(*({tuple(position) for position in people} for people in found))


def _boxes(people: Floats, scene: Scene, in_all: Positions) -> list[list[int]]:
    """Camera, left, top, right, bottom and whether every mode has the person, for each visible box."""
    boxes = []
    for position, cell in zip(people, scene.ground.cells_at(people).tolist(), strict=True):
        for c, view in enumerate(scene.views):
            left, top, right, bottom = view.boxes[cell].tolist()
            if right > left:
                boxes.append([c, left, top, right, bottom, int(tuple(position) in in_all)])
    return boxes


def _picture_uri(picture: Image) -> str:
    if picture.dtype == np.bool_:
        return png_uri(subsampled(picture.astype(np.uint8) * MASK_LEVEL, PICTURE_SIDE))
    return photo_uri(subsampled(picture.astype(np.uint8), PICTURE_SIDE))


def _ground(ground: Ground, interest: NDArray[np.bool_]) -> dict[str, Any]:
    """Size of a cell, and left, bottom, width and height of the area of interest, in metres."""
    rows, columns = (np.flatnonzero(interest.any(axis)) for axis in (1, 0))
    x, y = ground.origin
    left, bottom = x + columns[0] * ground.cell, y + rows[0] * ground.cell
    width, height = (columns[-1] - columns[0] + 1) * ground.cell, (rows[-1] - rows[0] + 1) * ground.cell
    return {"cell": ground.cell, "interest": [float(v) for v in (left, bottom, width, height)]}


def _cameras(scene: Scene) -> list[dict[str, Any]]:
    return [
        {"name": view.name or f"camera {c}", "width": view.width, "height": view.height}
        for c, view in enumerate(scene.views)
    ]


def _camera_figure(c: int, camera: Mapping[str, Any]) -> str:
    name = escape(camera["name"])
    return (
        f'<figure><div class="stack"><img id="camera-{c}" alt="picture of {name}">'
        f'<svg class="over" id="boxes-{c}" viewBox="0 0 {camera["width"]} {camera["height"]}" '
        f'preserveAspectRatio="none" role="img" aria-label="boxes in {name}"></svg></div>'
        f"<figcaption>{name}</figcaption></figure>"
    )


def _body(ground: Ground, frames: int, tracks: TrackTable | None, cameras: Sequence[Mapping[str, Any]]) -> str:
    (rows, columns), cell, (x, y) = ground.shape, ground.cell, ground.origin
    box = f"{x} {-(y + rows * cell)} {columns * cell} {rows * cell}"
    circles = "; circles are tracks, hollow where the probability is below one half" if tracks is not None else ""
    figures = "".join(_camera_figure(c, camera) for c, camera in enumerate(cameras))
    return f"""<section aria-label="frames">{time_slider(frames)}
<div class="cameras">{figures}
<figure><svg class="ground" viewBox="{box}" role="img" aria-label="the ground from above">
<g id="ground" transform="scale(1,-1)"></g></svg>
<figcaption>from above, {columns * cell:g} x {rows * cell:g} m{circles}</figcaption></figure>
</div></section>
{trellis_section()}
{"" if tracks is None else tracks.section()}"""
