"""A saved result as a page: what `mixfield solve`, `segment`, `detect`, `track` and `video` left behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _npy
from mixfield.errors import FileFormatError, MixfieldError
from mixfield.io.detection_run import DetectionRun
from mixfield.io.documents import read_json, read_text
from mixfield.io.images import read_image, read_label_map
from mixfield.io.scene_file import read_footage, read_scene
from mixfield.io.tracks import read_csv
from mixfield.mixture.posterior import load
from mixfield.reports.field_page import field_page
from mixfield.reports.people_page import TrackTable, people_page
from mixfield.reports.segmentation import LEVELS_PER_BIT
from mixfield.reports.segmentation_page import segmentation_page
from mixfield.reports.video_file import read_video
from mixfield.reports.video_page import video_page
from mixfield.scene.scene import Scene

VIDEO = "video.npz"


def report_page(
    result: Path,
    *,
    image: Path | None = None,
    scene: Path | None = None,
    tracks: Path | None = None,
    frames: slice = slice(None),
    title: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> str:
    """The HTML page of a saved result.

    Parameters
    ----------
    result : a posterior (.npz), or a folder of `mixfield segment`, `detect` or `video`.
    image : the image of a segmentation, where the folder does not hold it.
    scene : the scene file of people.
    tracks : their table of tracks (.csv).
    frames : which of the frames of a sequence, by their place.
    title : heading of the page; by default the name of the result.
    progress : called with the number of frames that are done, and of all.
    """
    if not result.exists():
        raise FileNotFoundError(f"{result} does not exist")
    if result.is_file() and result.name != VIDEO:
        return _posterior(result, image, title)
    folder = result.parent if result.is_file() else result
    if (folder / VIDEO).is_file():
        return video_page(read_video(folder / VIDEO, frames), title=title or folder.resolve().name)
    if (folder / "result.npz").is_file():
        return _segmentation(folder, image, title)
    if any(folder.glob("frame_*.npz")):
        return _people(folder, scene, tracks, frames, title, progress)
    inside = sorted(path.parent.name for path in folder.glob("*/result.npz"))
    hint = f"; choose one of its results, such as {folder / inside[0]}" if inside else ""
    raise MixfieldError(f"{folder} holds no result.npz, {VIDEO} or frame_*.npz{hint}")


def _posterior(path: Path, image: Path | None, title: str | None) -> str:
    posterior = load(path)
    if image is None:
        return field_page(posterior, title=title or path.stem)
    return segmentation_page(posterior, read_image(image), title=title or image.name)


def _segmentation(folder: Path, image: Path | None, title: str | None) -> str:
    posterior = load(folder / "result.npz")
    photo = image or folder / "image.png"
    if not photo.is_file():
        return field_page(posterior, title=title or folder.resolve().name)
    gap, pixels, given = folder / "entropy_gap.png", folder / "superpixels.npy", folder / "scribbles.png"
    names = folder / "labels.txt"
    scribbles = read_label_map(given).astype(np.int64) if given.is_file() else None
    return segmentation_page(
        posterior,
        read_image(photo),
        gap=read_image(gap) / LEVELS_PER_BIT if gap.is_file() else None,
        pixels=_npy.read_npy(pixels, "does not hold superpixels") if pixels.is_file() else None,
        scribbles=None if scribbles is None else np.where(scribbles == 255, -1, scribbles),
        names=read_text(names).split("\n") if names.is_file() else (),
        title=title or (folder.resolve().name if image is None else image.name),
    )


def _people(
    folder: Path,
    scene: Path | None,
    tracks: Path | None,
    frames: slice,
    title: str | None,
    progress: Callable[[int, int], None] | None,
) -> str:
    if scene is None:
        raise MixfieldError(
            f"{folder} holds people on a ground plane; give the scene they are about (--scene scene.toml)"
        )
    room, footage = read_scene(scene), read_footage(scene)
    every = sorted(int(path.stem.split("_")[-1]) for path in folder.glob("frame_*.npz"))
    numbers = every[frames]
    run = DetectionRun(folder, room)
    pictures = {}
    for done, number in enumerate(numbers, 1):
        pictures[number] = [_as_rgb(picture) for picture in footage.pictures(number)]
        if progress is not None:
            progress(done, len(numbers))
    table = None if tracks is None else _tracks(tracks, numbers, room)
    return people_page(run.load(numbers), room, pictures=pictures, tracks=table, title=title or folder.resolve().name)


def _as_rgb(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return picture if picture.ndim == 2 else picture[..., ::-1]  # OpenCV has blue first


def _tracks(path: Path, numbers: list[int], room: Scene) -> TrackTable:
    """The table of tracks of some frames, and what ``mixfield track`` wrote about it beside it."""
    table = read_csv(path)
    beside = path.with_suffix(".json")
    told = read_told(beside) if beside.is_file() else Told()
    place = {number: t for t, number in enumerate(numbers)}
    kept = table[np.isin(table["frame"], numbers)].copy()
    if len(kept) and max(kept["row"].max() - room.ground.shape[0], kept["column"].max() - room.ground.shape[1]) >= 0:
        raise MixfieldError(f"{path} does not fit the ground of the scene, {room.ground.shape}")
    kept["frame"] = [place[number] for number in kept["frame"].tolist()]
    modes = np.array([told.chosen.get(number, 0) for number in numbers], np.int64)
    return TrackTable(kept, modes, told.summary, told.frame_rate)


@dataclass(frozen=True)
class Told:
    """What `mixfield track` wrote beside its table: the chosen mode of each frame, numbers, frames per second."""

    chosen: Mapping[int, int] = field(default_factory=dict)
    summary: Mapping[str, Any] = field(default_factory=dict)
    frame_rate: float | None = None


def read_told(path: Path) -> Told:
    """Read what `mixfield track` wrote beside a table of tracks."""
    told = read_json(path)
    numbers, modes = told.get("frame_numbers", []), told.get("chosen_modes", [])
    summary, rate = told.get("summary", {}), told.get("frame_rate")
    lists = isinstance(numbers, list) and isinstance(modes, list) and len(numbers) == len(modes)
    if not lists or not all(type(value) is int and 0 <= value < 2**53 for value in (*numbers, *modes)):
        raise FileFormatError(f"{path}: frame_numbers and chosen_modes must be as many, and whole numbers")
    if rate is not None and not (isinstance(rate, (int, float)) and 0 < rate < 1e9):
        raise FileFormatError(f"{path}: frame_rate must be a positive number or null, got {rate!r}")
    if not isinstance(summary, dict):
        raise FileFormatError(f"{path}: summary must be an object")
    return Told(dict(zip(numbers, modes, strict=True)), summary, rate)
