"""Pages of saved results: files and folders of `mixfield solve`, `segment`, `detect`, `track` and `video`."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mixfield import _npy
from mixfield.errors import MixfieldError
from mixfield.io.detection_run import load_posteriors
from mixfield.io.images import read_image, read_label_map
from mixfield.io.names import first_names
from mixfield.io.scene_file import read_footage, read_scene
from mixfield.io.tracks import TrackSidecar, read_csv, read_sidecar
from mixfield.mixture.posterior import load
from mixfield.reports.field_page import field_page
from mixfield.reports.gallery_page import gallery_page
from mixfield.reports.people_page import people_page
from mixfield.reports.segmentation import IMAGE, LEVELS_PER_BIT, NAMES, RESULT, STROKES, SUPERPIXELS, UNKNOWN
from mixfield.reports.segmentation_page import segmentation_page
from mixfield.reports.track_table import TrackTable
from mixfield.reports.video_file import read_video
from mixfield.reports.video_page import video_page
from mixfield.scene.scene import Scene

VIDEO, FRAMES = "video.npz", "frame_*.npz"

Progress = Callable[[int, int], None]
StrPath = str | PathLike[str]


def report_page(
    result: StrPath,
    *,
    image: StrPath | None = None,
    scene: StrPath | None = None,
    tracks: StrPath | None = None,
    frames: slice = slice(None),
    title: str | None = None,
    progress: Progress | None = None,
) -> str:
    """The text of the HTML page of a saved result.

    Parameters
    ----------
    result : a posterior (.npz), or a folder of `mixfield segment` (one image, or many), `detect` or `video`.
    image : the image of a segmentation, where the folder does not contain it.
    scene : the scene file of people.
    tracks : their table of tracks (.csv).
    frames : a slice of the frames of a sequence.
    title : heading of the page; by default the name of the result.
    progress : called with the number of frames or images done and the number of all.
    """
    path, photo = Path(result), None if image is None else Path(image)
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist")
    if path.is_file() and path.name != VIDEO:
        return _posterior(path, photo, title)
    folder = path.parent if path.is_file() else path
    heading = title or folder.resolve().name
    if (folder / VIDEO).is_file():
        return video_page(read_video(folder / VIDEO, frames), title=heading)
    if (folder / RESULT).is_file():
        return _segmentation(folder, photo, title or (heading if photo is None else photo.name))
    if any(folder.glob(FRAMES)):
        return _people(folder, scene, tracks, frames, heading, progress)
    if any(folder.glob(f"*/{RESULT}")):
        return gallery_page(folder, title=heading, progress=progress)
    raise MixfieldError(f"{folder} holds no {RESULT}, {VIDEO} or {FRAMES}, and none of its folders does")


def _posterior(path: Path, image: Path | None, title: str | None) -> str:
    posterior = load(path)
    if image is None:
        return field_page(posterior, title=title or path.stem)
    return segmentation_page(posterior, read_image(image), title=title or image.name)


def _segmentation(folder: Path, image: Path | None, title: str) -> str:
    """The page of a folder of `write_segmentation`; all files but the posterior may be absent."""
    posterior = load(folder / RESULT)
    photo = image or folder / IMAGE
    if not photo.is_file():
        return field_page(posterior, title=title)
    gap, superpixels = folder / "entropy_gap.png", folder / SUPERPIXELS
    return segmentation_page(
        posterior,
        read_image(photo),
        gap=read_image(gap) / LEVELS_PER_BIT if gap.is_file() else None,
        pixels=_npy.read_npy(superpixels, "does not hold superpixels") if superpixels.is_file() else None,
        scribbles=_scribbles(folder / STROKES),
        names=first_names([folder / NAMES]),
        title=title,
    )


def _scribbles(path: Path) -> NDArray[np.int64] | None:
    if not path.is_file():
        return None
    labels = read_label_map(path).astype(np.int64)
    return np.where(labels == UNKNOWN, -1, labels)


def _people(
    folder: Path,
    scene_file: StrPath | None,
    tracks: StrPath | None,
    frames: slice,
    title: str,
    progress: Progress | None,
) -> str:
    if scene_file is None:
        raise MixfieldError(
            f"{folder} holds people on a ground plane; give the scene they are about (--scene scene.toml)"
        )
    scene, footage = read_scene(scene_file), read_footage(scene_file)
    every = sorted(int(path.stem.split("_")[-1]) for path in folder.glob(FRAMES))
    numbers = sorted(every[frames])
    pictures = {}
    for done, number in enumerate(numbers, 1):
        pictures[number] = [_as_rgb(picture) for picture in footage.pictures(number)]
        if progress is not None:
            progress(done, len(numbers))
    table = None if tracks is None else _tracks(Path(tracks), numbers, scene)
    return people_page(load_posteriors(folder, numbers), scene, pictures=pictures, tracks=table, title=title)


def _as_rgb(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """(H, W) or (H, W, 3) of OpenCV, blue first, with red first."""
    return picture if picture.ndim == 2 else picture[..., ::-1]


def _tracks(path: Path, numbers: list[int], scene: Scene) -> TrackTable:
    """The tracks of some frames, with the sidecar that `mixfield track` writes beside the table."""
    table, sidecar_path = read_csv(path), path.with_suffix(".json")
    sidecar = read_sidecar(sidecar_path) if sidecar_path.is_file() else TrackSidecar()
    kept = table[np.isin(table["frame"], numbers)].copy()
    rows, columns = scene.ground.shape
    if (kept["row"] >= rows).any() or (kept["column"] >= columns).any():
        raise MixfieldError(f"{path} does not fit the ground of the scene, {scene.ground.shape}")
    kept["frame"] = np.searchsorted(numbers, kept["frame"])
    chosen = np.array([sidecar.chosen_modes.get(number, 0) for number in numbers], np.int64)
    return TrackTable(kept, chosen, sidecar.summary, sidecar.frame_rate)
