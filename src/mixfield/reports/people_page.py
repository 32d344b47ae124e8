"""The page of people on the ground: cameras with boxes, a map from above, tracks, and the mode of each frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.apps.detection import positions
from mixfield.apps.tracking import Tracks
from mixfield.errors import MixfieldError
from mixfield.mixture.posterior import MixturePosterior
from mixfield.reports.page import Page, percent, table
from mixfield.reports.png import data_uri, grey_png, photo_uri, smaller
from mixfield.reports.sequence import pause, time_slider, trellis_section
from mixfield.scene.ground import Ground
from mixfield.scene.scene import Scene

Image = NDArray[np.generic]
Floats = NDArray[np.float64]

COLOURS = "Green people are in every mode of a frame, orange ones not."
NUMBERS = {  # of a summary of tracks: what they are called on a page, and how they are written
    "frames": ("frames", "{}"),
    "tracks": ("tracks", "{}"),
    "people_per_frame": ("people per frame", "{:.1f}"),
    "median_length": ("median length of a track", "{:g} frames"),
    "median_speed": ("median speed", "{:.2f} {unit}"),
    "fastest": ("fastest step", "{:.2f} {unit}"),
    "steps_at_limit": ("steps at the limit of speed", "{:.0%}"),
    "unseen": ("places on tracks where nobody was seen", "{:.0%}"),
    "frames_not_heaviest": ("frames with another mode than the heaviest", "{}"),
    "cost": ("cost", "{:.3f}"),
    "bound": ("lower bound of the cost of any answer", "{:.3f}"),
    "gap_percent": ("distance between both, at most", "{:.3f} %"),
}
SIDE = 384  # pixels of the longer side of a camera picture on the page


@dataclass(frozen=True, eq=False)
class TrackTable:
    """What a page says of tracks.

    Attributes
    ----------
    table : one record for each person in each frame, as `Tracks.table`; frames by their place in the sequence.
    chosen_modes : (T,) the mode that the tracks chose in each frame.
    summary : numbers about them, by name.
    frame_rate : frames per second, if known.
    """

    table: NDArray[np.void]
    chosen_modes: NDArray[np.int64]
    summary: Mapping[str, Any]
    frame_rate: float | None = None

    @staticmethod
    def of(tracks: Tracks) -> TrackTable:
        """The same of tracks that were just found."""
        return TrackTable(tracks.table, tracks.chosen_modes, tracks.summary(), tracks.frame_rate)


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
    posteriors : of each frame, by its number.
    scene : what they are about.
    pictures : of each frame, one per camera: (H, W) masks or grey, or (H, W, 3) in red, green and blue.
    tracks : through the same frames, in the same order.
    title : heading of the page.
    """
    numbers = sorted(posteriors)
    if not numbers:
        raise MixfieldError("posteriors must hold at least one frame")
    if tracks is not None and len(tracks.chosen_modes) != len(numbers):
        raise MixfieldError(
            f"tracks must have the frames of posteriors, {len(numbers)}, got {len(tracks.chosen_modes)} frames"
        )
    chosen = [0] * len(numbers) if tracks is None else tracks.chosen_modes.tolist()
    frames = [
        _frame(posteriors[t], scene, t, chosen[i], () if pictures is None else pictures[t])
        for i, t in enumerate(numbers)
    ]
    names = [view.name or f"camera {c}" for c, view in enumerate(scene.views)]
    cameras = [{"name": name, "width": view.width} for name, view in zip(names, scene.views, strict=True)]
    return Page(
        title=title,
        kind="people",
        lead=_lead(len(numbers), tracks, sum(k > 0 for k in chosen)),
        body=_body(scene.ground, len(numbers), tracks, [] if pictures is None else _cameras(scene, names)),
        facts={
            "frames": frames,
            "cameras": cameras if pictures is not None else [],
            "ground": _ground(scene.ground, scene.interest),
            "tracks": [] if tracks is None else _tracks(tracks),
            "pause": pause(None if tracks is None else tracks.frame_rate),
        },
    ).html()


def tracks_page(tracks: Tracks, *, title: str = "Tracks") -> str:
    """The text of a self-contained HTML page about tracks alone."""
    told = TrackTable.of(tracks)
    frames = [
        {"number": t, "weights": [1.0] * (k + 1), "chosen": k, "people": [], "boxes": [], "pictures": []}
        for t, k in enumerate(tracks.chosen_modes.tolist() or [0])
    ]
    return Page(
        title=title,
        kind="people",
        lead=_lead(tracks.frames, told, int((tracks.chosen_modes > 0).sum())),
        body=_body(tracks.ground, len(frames), told, []),
        facts={
            "frames": frames,
            "cameras": [],
            "ground": _ground(tracks.ground, np.ones(tracks.ground.shape, bool)),
            "tracks": _tracks(told),
            "pause": pause(tracks.frame_rate),
        },
    ).html()


def _lead(frames: int, tracks: TrackTable | None, switched: int) -> str:
    if tracks is None:
        return f"{frames} frames, each explained in several ways. {COLOURS}"
    count = len(np.unique(tracks.table["identity"]))
    return (
        f"{count} tracks through {frames} frames; in {switched} of them ({percent(switched / max(frames, 1))}) "
        f"the tracks chose another mode than the heaviest. {COLOURS}"
    )


def _frame(
    posterior: MixturePosterior, scene: Scene, number: int, chosen: int, pictures: Sequence[Image]
) -> dict[str, Any]:
    found = [positions(mode, scene) for mode in posterior.modes]
    everywhere = {tuple(p) for p in found[0]}.intersection(*({tuple(p) for p in one} for one in found[1:]))
    return {
        "number": number,
        "weights": posterior.weights.tolist(),
        "chosen": chosen,
        "people": [[[*np.round(p, 3).tolist(), int(tuple(p) in everywhere)] for p in one] for one in found],
        "boxes": [_boxes(one, scene, everywhere) for one in found] if len(pictures) else [],
        "pictures": [_picture(picture) for picture in pictures],
    }


def _boxes(found: Floats, scene: Scene, everywhere: set[Any]) -> list[list[int]]:
    """Camera, left, top, right, bottom and whether every mode has the person, for each box that is visible."""
    columns = scene.ground.shape[1]
    boxes = []
    for person in found:
        column, row = np.floor((person - scene.ground.origin) / scene.ground.cell).astype(int).tolist()
        for c, view in enumerate(scene.views):
            box = view.boxes[row * columns + column].tolist()
            if box[2] > box[0]:
                boxes.append([c, *box, int(tuple(person) in everywhere)])
    return boxes


def _picture(picture: Image) -> str:
    if picture.dtype == np.bool_:
        return data_uri(grey_png(smaller(picture.astype(np.uint8) * 200, SIDE)))
    return photo_uri(smaller(picture.astype(np.uint8), SIDE))


def _ground(ground: Ground, interest: NDArray[np.bool_]) -> dict[str, Any]:
    rows, columns = (np.flatnonzero(interest.any(axis)) for axis in (1, 0))
    x, y = ground.origin
    left, bottom = x + columns[0] * ground.cell, y + rows[0] * ground.cell
    wide, high = (columns[-1] - columns[0] + 1) * ground.cell, (rows[-1] - rows[0] + 1) * ground.cell
    return {"cell": ground.cell, "interest": [float(v) for v in (left, bottom, wide, high)]}


def _tracks(tracks: TrackTable) -> list[list[Any]]:
    """Identity, first frame, and x, y, confidence in each frame."""
    table = np.sort(tracks.table, order=("identity", "frame"))
    identities, starts = np.unique(table["identity"], return_index=True)
    return [
        [
            identity,
            int(rows["frame"][0]),
            [[round(float(r["x"]), 3), round(float(r["y"]), 3), round(float(r["confidence"]), 2)] for r in rows],
        ]
        for identity, rows in zip(identities.tolist(), np.split(table, starts[1:]), strict=bool(len(table)))
    ]


def _cameras(scene: Scene, names: Sequence[str]) -> list[str]:
    return [
        f'<figure><div class="stack"><img id="camera-{c}" alt="picture of {escape(name)}">'
        f'<svg class="over" id="boxes-{c}" viewBox="0 0 {view.width} {view.height}" preserveAspectRatio="none" '
        f'role="img" aria-label="boxes in {escape(name)}"></svg></div><figcaption>{escape(name)}</figcaption></figure>'
        for c, (name, view) in enumerate(zip(names, scene.views, strict=True))
    ]


def _body(ground: Ground, frames: int, tracks: TrackTable | None, figures: Sequence[str]) -> str:
    (rows, columns), cell, (x, y) = ground.shape, ground.cell, ground.origin
    box = f"{x} {-(y + rows * cell)} {columns * cell} {rows * cell}"
    dots = "; dots on lines are tracks, hollow where nobody was seen" if tracks is not None else ""
    caption = f"from above, {columns * cell:g} x {rows * cell:g} m{dots}"
    sentence = (
        "Columns are frames, circles modes (the larger the likelier); the line goes through the modes that were taken."
    )
    return f"""<section aria-label="frames">{time_slider(frames)}
<div class="cameras">{"".join(figures)}
<figure><svg class="ground" viewBox="{box}" role="img" aria-label="the ground from above">
<g id="ground" transform="scale(1,-1)"></g></svg><figcaption>{caption}</figcaption></figure>
</div></section>
{trellis_section(sentence)}
{_summary(tracks)}"""


def _summary(tracks: TrackTable | None) -> str:
    if tracks is None or not tracks.summary:
        return ""
    unit = tracks.summary.get("speed_unit", "")
    rows: list[tuple[object, ...]] = [
        (label, shown.format(value, unit=unit) if isinstance(value, int | float) else value)
        for name, (label, shown) in NUMBERS.items()
        if (value := tracks.summary.get(name)) is not None
    ]
    return (
        '<section aria-labelledby="numbers"><h2 id="numbers">Numbers</h2>'
        f"{table(('', ''), rows, caption='The tracks in numbers; no other choice costs less than the bound')}</section>"
    )
