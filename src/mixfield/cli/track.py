"""``mixfield track``: tracks from a folder of posteriors, or from the detections in a file."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median_low
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixfield.cli.options import Json, check_target
from mixfield.cli.terminal import Progress, say
from mixfield.cli.track_follow import follow_folder, follow_summary, frame_number
from mixfield.errors import MixfieldError

if TYPE_CHECKING:
    from mixfield.apps.detections import Detections
    from mixfield.apps.tracking import Tracks
    from mixfield.mixture.posterior import MixturePosterior
    from mixfield.scene.ground import Ground
    from mixfield.scene.scene import Scene

MOSTLY = 0.5  # share of steps at the speed limit that is mentioned
NOTHING_WRITTEN = "no tracks were written; the same command begins again, and a smaller --window takes less time"


def track(
    modes: Annotated[
        Path,
        typer.Argument(
            help="Folder of posteriors, one .npz per frame, of mixfield detect; or detections (.csv, .json, MOT .txt)."
        ),
    ],
    scene: Annotated[Path | None, typer.Option(help="The scene.toml or .pom file that they are about.")] = None,
    cell: Annotated[float, typer.Option(help="Without a scene: side of a cell in metres.")] = 0.25,
    out: Annotated[Path, typer.Option(help="Table of tracks; .txt (MOT), .json and .html go beside it.")] = Path(
        "tracks.csv"
    ),
    frame_rate: Annotated[
        float | None, typer.Option(help="Frames per second.  [default: of the scene or its video]")
    ] = None,
    max_speed: Annotated[float, typer.Option(help="Metres per second, with a frame rate.")] = 2.5,
    doors: Annotated[
        str | None,
        typer.Option(help="Where people come and go: border (default), anywhere (default of detections) or nowhere."),
    ] = None,
    entry_cost: Annotated[float | None, typer.Option(help="What each track must earn, in nats.")] = None,
    price: Annotated[str, typer.Option(help="Of a mode: posterior, or printed (as in the paper).")] = "posterior",
    window: Annotated[int, typer.Option(min=2, help="Frames solved together.")] = 100,
    overlap: Annotated[int, typer.Option(min=1, help="Of those, frames solved again by the next window.")] = 25,
    nodes: Annotated[int, typer.Option(min=1, help="Of branch and bound, for each window.")] = 200,
    time_limit: Annotated[float, typer.Option(help="Seconds for each window.")] = math.inf,
    follow: Annotated[
        float, typer.Option(min=0.0, help="Wait for more posteriors, until none has come for so many seconds.")
    ] = 0.0,
    as_json: Json = False,
) -> None:
    """Join the modes of successive frames into tracks, choosing one mode in each frame."""
    import mixfield as mf

    check_target(out)
    if follow and modes.is_file():
        raise MixfieldError(f"--follow needs a folder of posteriors, got the file {modes}")
    frames, numbers, first = _detections(modes) if modes.is_file() else _posteriors(modes)
    where = _scene(scene, cell, first)
    rate = _recorded_rate(scene, numbers) if frame_rate is None else frame_rate
    options: dict[str, Any] = {"frame_rate": rate, "max_speed": max_speed, "doors": doors}
    options |= {"price": _price(price), "windows": mf.temporal.Windows(window, overlap)}
    options |= {"nodes": nodes, "time_limit": time_limit} | ({} if entry_cost is None else {"entry_cost": entry_cost})
    if follow and where is not None:
        facts = follow_folder(modes, mf.Tracker(where, **options), out, follow)
        say(json.dumps(facts) if as_json else follow_summary(facts))
        return
    started = time.perf_counter()
    with Progress("frames", len(numbers), quiet=as_json, stopped=NOTHING_WRITTEN) as advance:
        tracks = mf.track(frames, where, progress=advance, **options)
    facts = tracks.summary() | {"seconds": time.perf_counter() - started, "table": str(out), "frame_rate": rate}
    facts["notes"] = _notes(facts, max_speed)
    _write(out, tracks, tracks.ground if where is None else where, numbers, f"Tracks of {modes}")
    if as_json:
        typer.echo(json.dumps(facts))
    else:
        _print(facts, tracks, out)


def _write(out: Path, tracks: Tracks, scene: Scene | Ground, numbers: list[int], title: str) -> None:
    """The table, and beside it a MOT file, the choices as JSON and a page."""
    import mixfield as mf
    from mixfield import _files
    from mixfield.io.tracks import write_csv, write_mot, write_sidecar
    from mixfield.reports.people_page import tracks_page

    write_csv(out, tracks, frames=numbers)
    view = scene.views[0] if isinstance(scene, mf.Scene) else None
    write_mot(out.with_suffix(".txt"), tracks, view=view, frames=numbers)
    write_sidecar(out.with_suffix(".json"), tracks, frames=numbers)
    _files.write_text(out.with_suffix(".html"), tracks_page(tracks, title=title))


def _print(facts: dict[str, Any], tracks: Tracks, out: Path) -> None:
    say(
        f"{facts['tracks']} tracks in {facts['frames']} frames, {facts['people_per_frame']:.1f} people per frame, "
        f"{facts['seconds']:.1f} s",
        f"cost {tracks.cost:.3f}, no answer below {tracks.bound:.3f}: at most {tracks.gap:.3f} % from the best; "
        f"another mode than the heaviest in {facts['frames_not_heaviest']} frames",
        f"speed {facts['median_speed']:.2f} {facts['speed_unit']} (median), {facts['fastest']:.2f} (fastest), "
        f"{100 * facts['steps_at_limit']:.0f} % of the steps at the limit; {100 * facts['unseen']:.0f} % unseen",
        *(f"note: {note}" for note in facts["notes"]),
        *(f"wrote {path}" for path in (out, out.with_suffix(".txt"), out.with_suffix(".html"))),
    )


def _recorded_rate(scene: Path | None, numbers: list[int]) -> float | None:
    """Posteriors per second: the rate of the scene file or its video, over the step of the frame numbers."""
    from mixfield.io.scene_file import read_footage

    try:
        rate = None if scene is None else read_footage(scene).frame_rate
    except (MixfieldError, OSError):  # tracks need no footage
        return None
    steps = [after - before for before, after in pairwise(numbers) if after > before]
    return None if rate is None else rate / (median_low(steps) if steps else 1)


def _notes(facts: dict[str, Any], max_speed: float) -> list[str]:
    """A note if most steps are as long as they may be: then people are faster than the limit, and tracks break."""
    if facts["steps_at_limit"] <= MOSTLY:
        return []
    share = f"{100 * facts['steps_at_limit']:.0f} % of the steps are at the limit of"
    if facts["frame_rate"] is None:
        return [f"{share} one cell a frame, so tracks may break: give --frame-rate, or frame_rate in the scene file"]
    return [f"{share} {max_speed:g} m/s at {facts['frame_rate']:g} frames/s, so tracks may break: check both"]


def _price(name: str) -> Any:
    import mixfield as mf

    prices = {"posterior": mf.temporal.posterior_price, "printed": mf.temporal.printed_price}
    if name not in prices:
        raise MixfieldError(f"--price must be posterior or printed, got {name!r}")
    return prices[name]


def _posteriors(folder: Path) -> tuple[Iterator[MixturePosterior], list[int], Path | None]:
    """The posteriors of a folder in the order of their frame numbers, these numbers, and the first file."""
    import mixfield as mf

    paths = sorted(folder.glob("*.npz"), key=lambda path: (frame_number(path, -1), path.name))
    if not paths:
        raise MixfieldError(f"no posteriors (*.npz) in {folder}; mixfield detect writes them")
    return map(mf.load, paths), [frame_number(path, i) for i, path in enumerate(paths)], paths[0]


def _detections(path: Path) -> tuple[Detections, list[int], Path | None]:
    """The detections of a file, and the numbers of their frames."""
    from mixfield.io import read_detections

    found = read_detections(path)
    return found, list(found.frames()), None


def _scene(path: Path | None, cell: float, posterior: Path | None) -> Scene | Ground | None:
    """The scene file; without one a ground of the shape of a posterior, or None for detections."""
    import mixfield as mf
    from mixfield.scene import Ground

    if path is not None:
        return mf.read_pom(path) if path.suffix == ".pom" else mf.read_scene(path)
    if posterior is None:
        return None
    shape = mf.load(posterior).shape
    if len(shape) != 2:
        raise MixfieldError(f"{posterior} is not about a ground: its field has shape {shape}, not (rows, columns)")
    return Ground((shape[0], shape[1]), cell)
