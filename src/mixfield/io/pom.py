"""The configuration files of the POM program (``.pom``): rectangles, settings, image patterns, and its result files.

Read are the dialects in use: the released program's; a fork's with one CAMERA line per camera; lists of rectangles
without a ROOM line, whose boxes may overhang the image (WILDTRACK, MultiviewX).  Written is the released program's, or
the fork's where images differ in size.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays, _files
from mixfield.errors import FileFormatError, MixfieldError
from mixfield.io.documents import read_text
from mixfield.scene.ground import Ground
from mixfield.scene.scene import Scene
from mixfield.scene.view import View

StrPath = str | os.PathLike[str]

MOST = 10_000_000  # boxes, or frames: beyond that a file is a mistake

_TOKEN = re.compile(r'"([^"]*)"|([^\s,"]+)')
_REALS = ("PRIOR", "SIGMA_IMAGE_DENSITY", "SMOOTHING_COEFFICIENT", "ERROR_MAX", "PROBA_IGNORED")
_COUNTS = ("MAX_NB_SOLVER_ITERATIONS", "NB_STABLE_ERROR_FOR_CONVERGENCE")
_PATTERNS = ("INPUT_VIEW_FORMAT", "RESULT_VIEW_FORMAT", "RESULT_FORMAT", "CONVERGENCE_VIEW_FORMAT")


@dataclass
class PomFile:
    """What a ``.pom`` file says.

    Attributes
    ----------
    sizes : (width, height) of each camera, None where the file does not tell.
    n_locations : number of locations.
    boxes : (camera, location) -> left, top, right, bottom, the last two exclusive; absent where not visible.
    settings : numbers by keyword, such as ``PRIOR``.
    patterns : paths by keyword, such as ``INPUT_VIEW_FORMAT``, with %c for the camera and %f for the frame.
    frames : what the PROCESS lines ask for.
    has_room : whether a ROOM line fixes cameras and locations; without one they are as many as the file mentions.
    """

    path: Path
    sizes: list[tuple[int, int] | None] = field(default_factory=list)
    n_locations: int = 0
    boxes: dict[tuple[int, int], tuple[int, int, int, int]] = field(default_factory=dict)
    settings: dict[str, float] = field(default_factory=dict)
    patterns: dict[str, str] = field(default_factory=dict)
    frames: list[int] = field(default_factory=list)
    has_room: bool = False

    def scene(self, ground: Ground | None = None, sizes: list[tuple[int, int]] | None = None) -> Scene:
        """The scene; see `read_pom`."""
        count = self.n_locations if ground is None else ground.n
        if count < self.n_locations:
            raise MixfieldError(f"ground has {count} cells, but {self.path} has locations up to {self.n_locations - 1}")
        boxes = np.zeros((len(self.sizes), count, 4), np.int32)
        for (camera, location), box in self.boxes.items():
            boxes[camera, location] = box
        views = tuple(
            View(*self._size(c, sizes), boxes[c], name=str(c))  # boxes that overhang are clipped here
            for c in range(len(self.sizes))
        )
        variance = self.settings.get("SIGMA_IMAGE_DENSITY", 0.01)
        return Scene(
            ground=ground or Ground((1, max(count, 1)), 1.0),
            views=views,
            prior=self.settings.get("PRIOR", 0.01),
            variance=(variance,) * len(views),
        )

    def _size(self, camera: int, sizes: list[tuple[int, int]] | None) -> tuple[int, int]:
        size = sizes[camera] if sizes is not None and camera < len(sizes) else self.sizes[camera]
        if size is None:
            raise FileFormatError(
                f"{self.path} has no ROOM line, so the size of the images is unknown: give sizes=[(width, height), "
                "...], or in a scene.toml size = [width, height] of each [[camera]]"
            )
        return size


def read_pom(path: StrPath, *, ground: Ground | None = None, sizes: list[tuple[int, int]] | None = None) -> Scene:
    """Read the scene of a ``.pom`` file.

    How long to iterate and what to leave out (``MAX_NB_SOLVER_ITERATIONS``, ``ERROR_MAX``, ``PROBA_IGNORED`` and the
    like) is no part of a scene: `parse_pom` reads it, `mixfield.Solver` and `mixfield.Occupancy` have settings of their
    own.

    Parameters
    ----------
    path : the file.
    ground : the cells its locations number, in C order; without it a row of cells, for the file does not tell.
    sizes : (width, height) of each camera, for files without a ROOM line.
    """
    return parse_pom(path).scene(ground, sizes)


def parse_pom(path: StrPath) -> PomFile:
    """Read everything a ``.pom`` file says; `FileFormatError` names the line of a mistake."""
    pom = PomFile(Path(path))
    cameras: dict[str, int] = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        keyword, *values = [quoted or plain for quoted, plain in _TOKEN.findall(line)] or [""]
        try:
            _STATEMENTS.get(keyword, _unknown)(pom, cameras, keyword, values)
        except FileFormatError as error:
            raise FileFormatError(f"{path}, line {number}: {error}") from None
    if not pom.boxes:
        raise FileFormatError(f"{path} shows no location in any camera: it has no visible RECTANGLE")
    return pom


def _unknown(pom: PomFile, cameras: dict[str, int], keyword: str, values: list[str]) -> None:  # noqa: ARG001
    raise FileFormatError(f"unknown keyword {keyword!r}; expected one of {', '.join(sorted(_STATEMENTS))}")


def _room(pom: PomFile, cameras: dict[str, int], keyword: str, values: list[str]) -> None:  # noqa: ARG001
    width, height, n_cameras, n_locations = _integers(keyword, values, 4)
    if pom.has_room or pom.sizes:
        raise FileFormatError("ROOM must come once, before any RECTANGLE")
    pom.has_room = True
    if n_cameras * n_locations > MOST:
        raise FileFormatError(f"ROOM may have at most {MOST} boxes, got {n_cameras} cameras x {n_locations} locations")
    if n_cameras < 1 or n_locations < 1:
        raise FileFormatError(f"ROOM needs at least one camera and one location, got {n_cameras} and {n_locations}")
    if (width, height) == (-1, -1):  # one CAMERA line per camera follows
        pom.sizes = [None] * n_cameras
    elif width < 1 or height < 1:
        raise FileFormatError(f"ROOM needs images of at least one pixel, got {width} x {height}")
    else:
        pom.sizes = [(width, height)] * n_cameras
    pom.n_locations = n_locations


def _camera(pom: PomFile, cameras: dict[str, int], keyword: str, values: list[str]) -> None:
    if len(values) != 3:
        raise FileFormatError(f"CAMERA needs an id, a width and a height, got {len(values)} values")
    width, height = _integers(keyword, values[1:], 2)
    cameras[values[0]] = len(cameras)
    if len(cameras) > len(pom.sizes):
        raise FileFormatError(f"there are more CAMERA lines than the {len(pom.sizes)} cameras of the ROOM line")
    if width < 1 or height < 1:
        raise FileFormatError(f"CAMERA needs an image of at least one pixel, got {width} x {height}")
    pom.sizes[cameras[values[0]]] = (width, height)


def _rectangle(pom: PomFile, cameras: dict[str, int], keyword: str, values: list[str]) -> None:
    if len(values) == 3 and values[2] == "notvisible":
        corners = None
    elif len(values) == 6:
        corners = _integers(keyword, values[2:], 4)
    else:
        raise FileFormatError("RECTANGLE needs a camera, a location, and four corners or 'notvisible'")
    camera = cameras[values[0]] if values[0] in cameras else _integers(keyword, values[:1], 1)[0]
    (location,) = _integers(keyword, values[1:2], 1)
    _extend(pom, camera, location)
    if corners is None:
        pom.boxes.pop((camera, location), None)
        return
    left, top, right, bottom = corners
    if left > right or top > bottom:
        raise FileFormatError(f"RECTANGLE has its corners the wrong way round: {left} {top} {right} {bottom}")
    pom.boxes[camera, location] = (left, top, right + 1, bottom + 1)


def _extend(pom: PomFile, camera: int, location: int) -> None:
    """Check a camera and a location against the ROOM line, or let a file without one grow."""
    outside = pom.has_room and (camera >= len(pom.sizes) or location >= pom.n_locations)
    if camera < 0 or location < 0 or outside:
        room = f"; the ROOM has {len(pom.sizes)} cameras and {pom.n_locations} locations" if outside else ""
        raise FileFormatError(f"there is no camera {camera} with a location {location}{room}")
    if (camera + 1) * (location + 1) > MOST:
        raise FileFormatError(f"there may be at most {MOST} boxes, got camera {camera} and location {location}")
    if not pom.has_room:
        pom.sizes += [None] * (camera + 1 - len(pom.sizes))
        pom.n_locations = max(pom.n_locations, location + 1)


def _real(pom: PomFile, cameras: dict[str, int], keyword: str, values: list[str]) -> None:  # noqa: ARG001
    try:
        (text,) = values
        pom.settings[keyword] = float(text)
    except ValueError:
        raise FileFormatError(f"{keyword} needs one number, got {' '.join(values) or 'nothing'}") from None


def _count(pom: PomFile, cameras: dict[str, int], keyword: str, values: list[str]) -> None:  # noqa: ARG001
    pom.settings[keyword] = float(_integers(keyword, values, 1)[0])


def _pattern(pom: PomFile, cameras: dict[str, int], keyword: str, values: list[str]) -> None:  # noqa: ARG001
    if len(values) != 1:
        raise FileFormatError(f"{keyword} needs one path, got {len(values)}")
    wrong = re.search(r"%(?![cfi])", values[0])
    if wrong:
        raise FileFormatError(f"{keyword} may hold %c, %f and %i only, got {values[0]!r}")
    pom.patterns[keyword] = values[0]


def _process(pom: PomFile, cameras: dict[str, int], keyword: str, values: list[str]) -> None:  # noqa: ARG001
    first, count = _integers(keyword, values, 2)
    if not 0 <= count <= MOST - len(pom.frames):
        raise FileFormatError(f"PROCESS may ask for 0 to {MOST} frames, got {count}")
    pom.frames += range(first, first + count)


def _integers(keyword: str, values: list[str], count: int) -> list[int]:
    try:
        numbers = [int(value) for value in values]
    except ValueError:
        numbers = []
    if any(abs(number) > 2**31 - 2 for number in numbers):
        raise FileFormatError(f"{keyword} needs numbers of at most 31 bits, got {' '.join(values)[:80]}")
    if len(numbers) != count or len(values) != count:
        raise FileFormatError(f"{keyword} needs {count} integers here, got {' '.join(values) or 'nothing'}")
    return numbers


_Statement = Callable[[PomFile, dict[str, int], str, list[str]], None]
_STATEMENTS: Mapping[str, _Statement] = {
    "ROOM": _room,
    "CAMERA": _camera,
    "RECTANGLE": _rectangle,
    "PROCESS": _process,
    **dict.fromkeys(_REALS, _real),
    **dict.fromkeys(_COUNTS, _count),
    **dict.fromkeys(_PATTERNS, _pattern),
}


def write_pom(
    path: StrPath, scene: Scene, *, masks: str | None = None, results: str | None = None, frames: range | None = None
) -> None:
    """Write a scene for the POM program.

    Parameters
    ----------
    path : the file.
    scene : its rectangles are written at the size of the reduced images.  Without a variance of its own, the median of
        those that `mixfield.Occupancy` would take is written: the program has one for all views.
    masks, results : path patterns with %c (camera) and %f (frame) that the program reads and writes.
    frames : consecutive frames to process.
    """
    if frames is not None and frames.step != 1:
        raise MixfieldError(f"frames must be consecutive, the POM program takes no others, got {frames}")
    views = scene.reduced_views
    sizes = [(view.width, view.height) for view in views]
    room = sizes[0] if len(set(sizes)) == 1 else (-1, -1)
    lines = [f"ROOM {room[0]} {room[1]} {len(views)} {scene.ground.n}"]
    if room == (-1, -1):
        lines += [f"CAMERA {c} {width} {height}" for c, (width, height) in enumerate(sizes)]
    for c, view in enumerate(views):
        for n, (left, top, right, bottom) in enumerate(view.boxes.tolist()):
            shown = f"{left} {top} {right - 1} {bottom - 1}" if right > left else "notvisible"
            lines.append(f"RECTANGLE {c} {n} {shown}")
    lines.append(f"PRIOR {scene.prior:.10g}")
    if scene.variance is not None and len(set(scene.variance)) > 1:
        raise MixfieldError(f"the POM program takes one variance for all views, the scene has {scene.variance}")
    lines.append(f"SIGMA_IMAGE_DENSITY {np.median(scene.scales):.10g}")
    lines += [f'INPUT_VIEW_FORMAT "{masks}"'] if masks is not None else []
    lines += [f'RESULT_FORMAT "{results}"'] if results is not None else []
    lines += [f"PROCESS {frames.start} {len(frames)}"] if frames is not None else []
    _files.write_text(path, "\n".join(lines) + "\n")


def read_result(path: StrPath, n_locations: int) -> NDArray[np.float64]:
    """(n,) probabilities of a result file of the POM program, ``location probability`` on each line."""
    values = np.full(n_locations, np.nan)
    for number, line in enumerate(read_text(path).splitlines(), 1):
        try:
            location, probability = line.split()
            values[range(n_locations)[int(location) if location.isdecimal() else n_locations]] = float(probability)
        except (ValueError, IndexError):
            raise FileFormatError(
                f"{path}, line {number}: expected a location below {n_locations} and a probability, got {line!r}"
            ) from None
    return values


def write_result(path: StrPath, occupied: ArrayLike) -> None:
    """Write probabilities (n,) or (rows, columns) as the POM program does; KSP trackers read this."""
    values = _arrays.floats("occupied", occupied).ravel()
    text = "".join(f"{location} {probability:.6g}\n" for location, probability in enumerate(values.tolist()))
    _files.write_text(path, text)
