"""Scenes in the files of the POM program, see `mixfield.io.pom_parser` for the dialects that are read."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np

from mixfield import _files
from mixfield.errors import MixfieldError
from mixfield.io.pom_parser import PomFile as PomFile
from mixfield.io.pom_parser import Size
from mixfield.io.pom_parser import parse_pom as parse_pom
from mixfield.scene.ground import Ground
from mixfield.scene.scene import Scene

StrPath = str | os.PathLike[str]


def read_pom(path: StrPath, *, ground: Ground | None = None, sizes: list[Size] | None = None) -> Scene:
    """Read the scene of a ``.pom`` file.

    Settings of the solver (``MAX_NB_SOLVER_ITERATIONS``, ``ERROR_MAX``, ``PROBA_IGNORED`` and the like) are no part of
    a scene: `parse_pom` returns them; `mixfield.Solver` and `mixfield.Occupancy` have settings of their own.

    Parameters
    ----------
    path : the file.
    ground : the cells that its locations number, in C order; by default one row of cells, for the file has no ground.
    sizes : (width, height) of each camera, for files without a ROOM line.
    """
    return parse_pom(path).scene(ground, sizes)


def write_pom(
    path: StrPath, scene: Scene, *, masks: str | None = None, results: str | None = None, frames: range | None = None
) -> None:
    """Write a scene for the POM program; for images of several sizes, for its fork with CAMERA lines.

    Parameters
    ----------
    path : the file.
    scene : its rectangles are written at the size of the reduced images.  The program has one variance for all views:
        if the scene has none, the median of those of `mixfield.Occupancy` is written.
    masks, results : path patterns with %c (camera) and %f (frame) that the program reads and writes.
    frames : consecutive frames to process.
    """
    if frames is not None and frames.step != 1:
        raise MixfieldError(f"frames must be consecutive, the POM program takes no others, got {frames}")
    if scene.variance is not None and len(set(scene.variance)) > 1:
        raise MixfieldError(f"the POM program takes one variance for all views, the scene has {scene.variance}")
    if len(scene.heights) > 1:
        raise MixfieldError(f"the POM program takes people of one height, the scene has {len(scene.heights)}")
    lines = [*_geometry(scene), f"PRIOR {scene.prior:.10g}", f"SIGMA_IMAGE_DENSITY {np.median(scene.scales):.10g}"]
    lines += [f'INPUT_VIEW_FORMAT "{masks}"'] if masks is not None else []
    lines += [f'RESULT_FORMAT "{results}"'] if results is not None else []
    lines += [f"PROCESS {frames.start} {len(frames)}"] if frames is not None else []
    _files.write_text(path, "\n".join(lines) + "\n")


def _geometry(scene: Scene) -> Iterator[str]:
    """The lines ROOM, CAMERA and RECTANGLE."""
    views = scene.reduced_views
    sizes = [(view.width, view.height) for view in views]
    width, height = sizes[0] if len(set(sizes)) == 1 else (-1, -1)
    yield f"ROOM {width} {height} {len(views)} {scene.ground.n}"
    if width < 0:
        yield from (f"CAMERA {c} {size[0]} {size[1]}" for c, size in enumerate(sizes))
    for c, view in enumerate(views):
        for n, (left, top, right, bottom) in enumerate(view.boxes.tolist()):
            corners = f"{left} {top} {right - 1} {bottom - 1}" if right > left else "notvisible"
            yield f"RECTANGLE {c} {n} {corners}"
