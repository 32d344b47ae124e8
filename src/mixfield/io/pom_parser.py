"""The statements of ``.pom`` files, the configuration files of the POM program.

The dialects in use are read: that of the released program; that of a fork with one CAMERA line per camera; and lists of
rectangles without a ROOM line, whose boxes may exceed the image (WILDTRACK, MultiviewX).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mixfield.errors import FileFormatError, MixfieldError
from mixfield.io.documents import read_lines
from mixfield.scene.ground import Ground
from mixfield.scene.scene import Scene
from mixfield.scene.view import View

StrPath = str | os.PathLike[str]
Size = tuple[int, int]

MAX_BOXES = 5_000_000  # cameras x locations; WILDTRACK has 1.2 million
MAX_FRAMES = 1_000_000  # eleven hours
MAX_INTEGER = 2**31 - 2
DEFAULT_PRIOR, DEFAULT_VARIANCE = 0.01, 0.01

_TOKEN = re.compile(r'"([^"]*)"|([^\s,"]+)')
_REALS = ("PRIOR", "SIGMA_IMAGE_DENSITY", "SMOOTHING_COEFFICIENT", "ERROR_MAX", "PROBA_IGNORED")
_COUNTS = ("MAX_NB_SOLVER_ITERATIONS", "NB_STABLE_ERROR_FOR_CONVERGENCE")
_PATTERNS = ("INPUT_VIEW_FORMAT", "RESULT_VIEW_FORMAT", "RESULT_FORMAT", "CONVERGENCE_VIEW_FORMAT")


@dataclass
class PomFile:
    """The content of a ``.pom`` file.

    Attributes
    ----------
    path : of the file.
    sizes : (width, height) of each camera, None where the file does not give it.
    n_locations : number of locations.
    boxes : (camera, location) to left, top, right, bottom, the last two exclusive; absent where not visible.
    settings : numbers by keyword, such as ``PRIOR``.
    patterns : paths by keyword, such as ``INPUT_VIEW_FORMAT``, with %c for the camera and %f for the frame.
    frames : of the PROCESS lines.
    has_room : whether a ROOM line gives the numbers of cameras and locations; without one they are the largest in use.
    cameras : index of a camera by the id of its CAMERA line.
    """

    path: Path
    sizes: list[Size | None] = field(default_factory=list)
    n_locations: int = 0
    boxes: dict[tuple[int, int], tuple[int, int, int, int]] = field(default_factory=dict)
    settings: dict[str, float] = field(default_factory=dict)
    patterns: dict[str, str] = field(default_factory=dict)
    frames: list[int] = field(default_factory=list)
    has_room: bool = False
    cameras: dict[str, int] = field(default_factory=dict)

    def scene(self, ground: Ground | None = None, sizes: list[Size] | None = None) -> Scene:
        """The scene; parameters as for `mixfield.read_pom`."""
        count = self.n_locations if ground is None else ground.n
        if count < self.n_locations:
            raise MixfieldError(f"ground has {count} cells, but {self.path} has locations up to {self.n_locations - 1}")
        boxes = np.zeros((len(self.sizes), count, 4), np.int32)
        for (camera, location), box in self.boxes.items():
            boxes[camera, location] = box
        views = tuple(
            View(*self._size(c, sizes), boxes[c], name=str(c))  # clips boxes to the image
            for c in range(len(self.sizes))
        )
        variance = self.settings.get("SIGMA_IMAGE_DENSITY", DEFAULT_VARIANCE)
        return Scene(
            ground=ground or Ground((1, max(count, 1)), 1.0),
            views=views,
            prior=self.settings.get("PRIOR", DEFAULT_PRIOR),
            variance=(variance,) * len(views),
        )

    def _size(self, camera: int, sizes: list[Size] | None) -> Size:
        size = sizes[camera] if sizes is not None and camera < len(sizes) else self.sizes[camera]
        if size is None:
            raise FileFormatError(
                f"{self.path} has no ROOM line, so the size of the images is unknown: give sizes=[(width, height), "
                "...], or in a scene.toml size = [width, height] of each [[camera]]"
            )
        return size


def parse_pom(path: StrPath) -> PomFile:
    """Read all statements of a ``.pom`` file; a `FileFormatError` gives the line."""
    pom = PomFile(Path(path))
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip() or line.startswith("#"):
            continue
        keyword, *values = [quoted or plain for quoted, plain in _TOKEN.findall(line)] or [""]
        try:
            _STATEMENTS.get(keyword, _unknown)(pom, keyword, values)
        except FileFormatError as error:
            raise FileFormatError(f"{path}, line {number}: {error}") from None
    if not pom.boxes:
        raise FileFormatError(f"{path} shows no location in any camera: it has no visible RECTANGLE")
    return pom


def _unknown(pom: PomFile, keyword: str, values: list[str]) -> None:  # noqa: ARG001
    raise FileFormatError(f"unknown keyword {keyword!r}; expected one of {', '.join(sorted(_STATEMENTS))}")


def _room(pom: PomFile, keyword: str, values: list[str]) -> None:
    width, height, n_cameras, n_locations = _integers(keyword, values, 4)
    if pom.has_room or pom.sizes:
        raise FileFormatError("ROOM must come once, before any RECTANGLE")
    pom.has_room = True
    if n_cameras * n_locations > MAX_BOXES:
        raise FileFormatError(
            f"ROOM may have at most {MAX_BOXES} boxes, got {n_cameras} cameras x {n_locations} locations"
        )
    if n_cameras < 1 or n_locations < 1:
        raise FileFormatError(f"ROOM needs at least one camera and one location, got {n_cameras} and {n_locations}")
    if (width, height) == (-1, -1):  # one CAMERA line per camera follows
        pom.sizes = [None] * n_cameras
    elif width < 1 or height < 1:
        raise FileFormatError(f"ROOM needs images of at least one pixel, got {width} x {height}")
    else:
        pom.sizes = [(width, height)] * n_cameras
    pom.n_locations = n_locations


def _camera(pom: PomFile, keyword: str, values: list[str]) -> None:
    if len(values) != 3:
        raise FileFormatError(f"CAMERA needs an id, a width and a height, got {len(values)} values")
    width, height = _integers(keyword, values[1:], 2)
    if values[0] in pom.cameras:
        raise FileFormatError(f"CAMERA {values[0]!r} comes twice")
    pom.cameras[values[0]] = len(pom.cameras)
    if len(pom.cameras) > len(pom.sizes):
        raise FileFormatError(f"there are more CAMERA lines than the {len(pom.sizes)} cameras of the ROOM line")
    if width < 1 or height < 1:
        raise FileFormatError(f"CAMERA needs an image of at least one pixel, got {width} x {height}")
    pom.sizes[pom.cameras[values[0]]] = (width, height)


def _rectangle(pom: PomFile, keyword: str, values: list[str]) -> None:
    if len(values) == 3 and values[2] == "notvisible":
        corners = None
    elif len(values) == 6:
        corners = _integers(keyword, values[2:], 4)
    else:
        raise FileFormatError("RECTANGLE needs a camera, a location, and four corners or 'notvisible'")
    camera = pom.cameras[values[0]] if values[0] in pom.cameras else _integers(keyword, values[:1], 1)[0]
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
    """Check a camera and a location against the ROOM line; without one, increase their numbers."""
    outside = pom.has_room and (camera >= len(pom.sizes) or location >= pom.n_locations)
    if camera < 0 or location < 0 or outside:
        room = f"; the ROOM has {len(pom.sizes)} cameras and {pom.n_locations} locations" if outside else ""
        raise FileFormatError(f"there is no camera {camera} with a location {location}{room}")
    if (camera + 1) * (location + 1) > MAX_BOXES:
        raise FileFormatError(f"there may be at most {MAX_BOXES} boxes, got camera {camera} and location {location}")
    if not pom.has_room:
        pom.sizes += [None] * (camera + 1 - len(pom.sizes))
        pom.n_locations = max(pom.n_locations, location + 1)


def _real(pom: PomFile, keyword: str, values: list[str]) -> None:
    try:
        (text,) = values
        pom.settings[keyword] = float(text)
    except ValueError:
        raise FileFormatError(f"{keyword} needs one number, got {' '.join(values) or 'nothing'}") from None


def _count(pom: PomFile, keyword: str, values: list[str]) -> None:
    pom.settings[keyword] = float(_integers(keyword, values, 1)[0])


def _pattern(pom: PomFile, keyword: str, values: list[str]) -> None:
    if len(values) != 1:
        raise FileFormatError(f"{keyword} needs one path, got {len(values)}")
    if re.search(r"%(?![cfi])", values[0]):
        raise FileFormatError(f"{keyword} may hold %c, %f and %i only, got {values[0]!r}")
    pom.patterns[keyword] = values[0]


def _process(pom: PomFile, keyword: str, values: list[str]) -> None:
    first, count = _integers(keyword, values, 2)
    if not 0 <= count <= MAX_FRAMES - len(pom.frames):
        raise FileFormatError(f"PROCESS may ask for 0 to {MAX_FRAMES} frames, got {count}")
    pom.frames += range(first, first + count)


def _integers(keyword: str, values: list[str], count: int) -> list[int]:
    try:
        numbers = [int(value) for value in values]
    except ValueError:
        numbers = []
    if any(abs(number) > MAX_INTEGER for number in numbers):
        raise FileFormatError(f"{keyword} needs numbers of at most 31 bits, got {' '.join(values)[:80]}")
    if len(numbers) != count or len(values) != count:
        raise FileFormatError(f"{keyword} needs {count} integers here, got {' '.join(values) or 'nothing'}")
    return numbers


_Statement = Callable[[PomFile, str, list[str]], None]
_STATEMENTS: Mapping[str, _Statement] = {
    "ROOM": _room,
    "CAMERA": _camera,
    "RECTANGLE": _rectangle,
    "PROCESS": _process,
    **dict.fromkeys(_REALS, _real),
    **dict.fromkeys(_COUNTS, _count),
    **dict.fromkeys(_PATTERNS, _pattern),
}
