"""``mixfield video``: one segmentation per frame, chosen among the modes of each frame by temporal consistency."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from mixfield.cli import batching
from mixfield.cli.field_models import Model, field_options
from mixfield.cli.options import Json, Seed, Threads, check_folder
from mixfield.cli.terminal import Progress, say
from mixfield.cli.video_frames import MODES, SegmentFrame, load_frames
from mixfield.cli.video_output import DONE, VideoOutput

SHOWN = 5  # frames that are named on the terminal


def video(
    frames: Annotated[Path, typer.Argument(help="A folder of images in order, or a video file.")],
    scores: Annotated[
        Path, typer.Option(help="Folder of probabilities (.npy, .npz) or label maps (.png), one per frame.")
    ],
    modes: Annotated[int, typer.Option(min=1, help="Segmentations to choose from in each frame.")] = 8,
    out: Annotated[Path, typer.Option(help="Folder for the results; a stopped run goes on there.")] = Path(
        "mixfield-video"
    ),
    lag: Annotated[int, typer.Option(min=0, help="Frames to look ahead before a mode is chosen.")] = 10,
    caution: Annotated[
        float | None, typer.Option(help="Log-odds of mean field if nothing speaks against it.  [default: 1.85]")
    ] = None,
    rate: Annotated[float, typer.Option(min=0.1, help="Frames per second of the film.")] = 5.0,
    logits: Annotated[bool, typer.Option("--logits", help="The scores are logits or log-probabilities.")] = False,
    model: Model = "",
    seed: Seed = 0,
    threads: Threads = None,
    engine: batching.Engine = "",
    workers: batching.Workers = None,
    scheduler: batching.Scheduler = "",
    as_json: Json = False,
) -> None:
    """Segment a video: one segmentation per frame, such that labels keep their colours and shapes.

    Writes modes/ (posteriors), then labels/ and mean_field/ (indexed PNG), video.mp4 with both side by side,
    report.html, video.npz to make that page again, and at the end frames.json.
    """
    from mixfield import batch
    from mixfield.apps.mode_path import Consistency
    from mixfield.io.scored_frames import ScoredFrames

    check_folder(out)
    source = ScoredFrames(frames.absolute(), scores.absolute())
    consistency = Consistency(lag=lag) if caution is None else Consistency(lag=lag, caution=caution)
    work = SegmentFrame(source, modes, field_options(model), logits, seed, threads)
    work = replace(work, shape=work.first_shape())
    items = [batch.Item(f.name, f, (f.picture, f.scores)) for f in source.frames() if f.scores is not None]
    started = time.perf_counter()
    where = batching.engine(engine, workers, scheduler)
    outcomes = batch.map(work, items, out, settings=work.settings(), engine=where)
    results = batching.follow(outcomes, "frames", len(items), quiet=as_json)
    results.check()
    rows = _choose(work, results.facts, consistency, VideoOutput(out, rate, title=frames.name), quiet=as_json)
    summary = {
        "frames": rows,
        "out": str(out),
        "seconds": time.perf_counter() - started,
        "seconds_modes": sum(facts["seconds"] for facts in results.facts.values()),
        "failures": results.failures,
    }
    _finish(summary, results, out, as_json)


def _choose(
    work: SegmentFrame, facts: dict[str, Any], consistency: Any, output: VideoOutput, *, quiet: bool
) -> list[dict[str, Any]]:
    """Choose one mode per frame and write the frames; returns a row per frame."""
    from mixfield.apps.mode_path import ModePath
    from mixfield.apps.video import follow

    frames = work.source.frames()
    loaded = load_frames(work, frames, output.out / MODES, facts)
    with Progress("choice", len(frames), quiet=quiet) as advance, output:
        for decided, frame in follow(loaded, ModePath(consistency)):
            output.add(decided, frame)
            advance(len(output.rows))
    output.write_page()
    return output.rows


def _finish(summary: dict[str, Any], results: batching.Results, out: Path, as_json: bool) -> None:
    """Write the summary last: a folder that has it is complete."""
    from mixfield import _files

    _files.write_text(out / DONE, json.dumps(summary, indent=1) + "\n")
    if as_json:
        typer.echo(json.dumps(summary))
    else:
        _print(summary, results, out)
    results.conclude(quiet=as_json)


def _print(summary: dict[str, Any], results: batching.Results, out: Path) -> None:
    rows = summary["frames"]
    changed, starts = (sum(1 for row in rows if row[name]) for name in ("differs", "starts"))
    missing = sum(1 for row in rows if row["mode"] is None)
    earlier = f", the modes of {results.tally.reused} from an earlier run" if results.tally.reused else ""
    say(
        f"{len(rows)} frames in {summary['seconds']:.1f} s{earlier}; {starts} unbroken chains, {missing} missing; "
        f"another mode than mean field in {changed}{_named([row for row in rows if row['differs']])}",
        f"wrote {out}/: report.html, video.mp4, labels/, mean_field/, modes/, frames.json",
    )


def _named(rows: list[dict[str, Any]]) -> str:
    """The first frames with another mode, and its probability."""
    if not rows:
        return ""
    named = [f"{row['frame']} (mode {row['mode'] + 1}, {row['probability']:.0%})" for row in rows[:SHOWN]]
    return ": " + ", ".join(named) + (", ..." if len(rows) > SHOWN else "")
