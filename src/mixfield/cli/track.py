"""``mixfield track``: tracks from a folder of posteriors."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from mixfield import _files
from mixfield.cli.options import Json, check_target
from mixfield.cli.terminal import Progress, console


def track(
    modes: Annotated[Path, typer.Argument(help="Folder of posteriors, one .npz per frame, as mixfield detect writes.")],
    scene: Annotated[Path | None, typer.Option(help="The scene.toml or .pom file that they are about.")] = None,
    cell: Annotated[float, typer.Option(help="Without a scene: side of a cell in metres.")] = 0.25,
    out: Annotated[Path, typer.Option(help="Table of tracks; .txt (MOT), .json and .html go beside it.")] = Path(
        "tracks.csv"
    ),
    frame_rate: Annotated[float | None, typer.Option(help="Frames per second.  [default: one cell a frame]")] = None,
    max_speed: Annotated[float, typer.Option(help="Metres per second, with a frame rate.")] = 2.5,
    doors: Annotated[str, typer.Option(help="Where people come and go: border, anywhere or nowhere.")] = "border",
    entry_cost: Annotated[float | None, typer.Option(help="What each track must earn, in nats.")] = None,
    price: Annotated[str, typer.Option(help="Of a mode: posterior, or printed (as in the paper).")] = "posterior",
    window: Annotated[int, typer.Option(min=2, help="Frames solved together.")] = 100,
    overlap: Annotated[int, typer.Option(min=1, help="Of those, frames solved again by the next window.")] = 25,
    time_limit: Annotated[float, typer.Option(help="Seconds for each window.")] = 60.0,
    as_json: Json = False,
) -> None:
    """Join the modes of successive frames into tracks, choosing one mode in each frame."""
    import mixfield as mf
    from mixfield.errors import MixfieldError
    from mixfield.io import tracks as files
    from mixfield.reports.people_page import tracks_page

    check_target(out)
    prices = {"posterior": mf.temporal.posterior_price, "printed": mf.temporal.printed_price}
    if price not in prices:
        raise MixfieldError(f"--price must be posterior or printed, got {price!r}")
    paths = _posteriors(modes)
    room = _scene(scene, cell, paths[0])
    options: dict[str, Any] = {} if entry_cost is None else {"entry_cost": entry_cost}
    started = time.perf_counter()
    again = "no tracks were written; the same command begins again, and a smaller --window takes less time"
    with Progress("frames", len(paths), quiet=as_json, stopped=again) as advance:
        found = mf.track(
            _loaded(paths),
            room,
            frame_rate=frame_rate,
            max_speed=max_speed,
            doors=doors,
            price=prices[price],
            windows=mf.temporal.Windows(window, overlap),
            time_limit=time_limit,
            progress=advance,
            **options,
        )
    facts = found.summary() | {"seconds": time.perf_counter() - started, "table": str(out)}
    numbers = [_number(path, i) for i, path in enumerate(paths)]
    files.write_csv(out, found, frames=numbers)
    view = room.views[0] if isinstance(room, mf.Scene) else None
    files.write_mot(out.with_suffix(".txt"), found, view=view, frames=numbers)
    told = {"summary": found.summary(), "chosen_modes": found.chosen_modes.tolist(), "frame_numbers": numbers}
    _files.write_text(out.with_suffix(".json"), json.dumps(told | {"frame_rate": frame_rate}) + "\n")
    _files.write_text(out.with_suffix(".html"), tracks_page(found, title=f"Tracks of {modes}"))
    if as_json:
        typer.echo(json.dumps(facts))
        return
    screen = console()
    screen.print(
        f"{facts['tracks']} tracks in {facts['frames']} frames, {facts['people_per_frame']:.1f} people per frame, "
        f"{facts['seconds']:.1f} s"
    )
    screen.print(
        f"cost {found.cost:.3f}, no answer below {found.bound:.3f}: at most {found.gap:.3f} % from the best; "
        f"another mode than the heaviest in {facts['frames_not_heaviest']} frames"
    )
    screen.print(
        f"speed {facts['median_speed']:.2f} {facts['speed_unit']} (median), {facts['fastest']:.2f} (fastest), "
        f"{100 * facts['steps_at_limit']:.0f} % of the steps at the limit; {100 * facts['unseen']:.0f} % unseen"
    )
    for path in (out, out.with_suffix(".txt"), out.with_suffix(".html")):
        screen.print(f"wrote {path}", highlight=False)


def _posteriors(folder: Path) -> list[Path]:
    from mixfield.errors import MixfieldError

    paths = sorted(folder.glob("*.npz"), key=lambda path: (_number(path, -1), path.name))
    if not paths:
        raise MixfieldError(f"no posteriors (*.npz) in {folder}; mixfield detect writes them")
    return paths


def _number(path: Path, otherwise: int) -> int:
    """The frame in a file name: the last number in it."""
    digits = re.findall(r"\d+", path.stem)
    return int(digits[-1]) if digits else otherwise


def _loaded(paths: list[Path]) -> Iterator[Any]:
    import mixfield as mf

    for path in paths:
        yield mf.load(path)


def _scene(path: Path | None, cell: float, first: Path) -> Any:
    import mixfield as mf
    from mixfield.scene import Ground

    if path is None:
        return Ground(_rectangle(mf.load(first).shape, first), cell)
    return mf.read_pom(path) if path.suffix == ".pom" else mf.read_scene(path)


def _rectangle(shape: tuple[int, ...], path: Path) -> tuple[int, int]:
    from mixfield.errors import MixfieldError

    if len(shape) != 2:
        raise MixfieldError(f"{path} is not about a ground: its field has shape {shape}, not (rows, columns)")
    return shape[0], shape[1]
