"""``mixfield video``: one segmentation per frame, chosen among the modes of each by how they fit together."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixfield import _files
from mixfield.cli.options import Json, Seed, Threads, solver
from mixfield.cli.terminal import Progress, console

if TYPE_CHECKING:
    from mixfield.apps.video import Decided
    from mixfield.io.film import Frame, ScoredFrames
    from mixfield.meanfield.solver import Solver
    from mixfield.mixture.posterior import MixturePosterior
    from mixfield.report.video_page import VideoFrame

DONE = "frames.json"  # written last: where it is, all frames are done
SHOWN = 100  # frames on the page, so that memory does not grow with the number of frames


def video(
    frames: Annotated[Path, typer.Argument(help="A folder of images in order, or a video file.")],
    scores: Annotated[
        Path, typer.Option(help="Folder of probabilities (.npy, .npz) or label maps (.png), one per frame.")
    ],
    modes: Annotated[int, typer.Option(min=1, help="Segmentations to choose from in each frame.")] = 8,
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("mixfield-video"),
    lag: Annotated[int, typer.Option(min=0, help="Frames to look ahead before a mode is chosen.")] = 10,
    stiffness: Annotated[
        float | None, typer.Option(help="Cost in nats if every point changed its label.  [default: 100]")
    ] = None,
    rate: Annotated[float, typer.Option(min=0.1, help="Frames per second of the film.")] = 5.0,
    logits: Annotated[bool, typer.Option("--logits", help="The scores are logits or log-probabilities.")] = False,
    kernels: Annotated[Path | None, typer.Option(help="Kernels as segment --tune writes them (.toml).")] = None,
    seed: Seed = 0,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Segment a video: labels that follow the points they belong to.

    Writes labels/ and mean_field/ (indexed PNG), video.mp4 with both side by side, report.html, video.npz to make that
    page again, and at the end frames.json.  A stopped run leaves the frames decided so far.
    """
    from mixfield.apps.video import Consistency, ModePath, follow
    from mixfield.errors import MixfieldError
    from mixfield.io.film import ScoredFrames
    from mixfield.io.kernels import read_kernels

    if out.exists() and not out.is_dir():
        raise MixfieldError(f"cannot write to {out}: it is a file, --out is a folder")
    source = ScoredFrames(frames, scores)
    how = Consistency(lag=lag) if stiffness is None else Consistency(lag=lag, stiffness=stiffness)
    chosen = None if kernels is None else read_kernels(kernels)
    stream = _Stream(source, modes, seed, solver(threads), {"logits": logits, "kernels": chosen})
    started = time.perf_counter()
    with Progress("frames", len(source), quiet=as_json) as advance, _Output(out, rate) as output:
        for one in follow(stream, ModePath(how)):
            output.add(one, stream.waiting.pop(0))
            advance(len(output.rows))
    summary = {
        "frames": output.rows,
        "out": str(out),
        "seconds": time.perf_counter() - started,
        "seconds_modes": stream.seconds,
    }
    output.write_page(frames.name, rate)
    _files.write_text(out / DONE, json.dumps(summary, indent=1) + "\n")
    if as_json:
        typer.echo(json.dumps(summary))
        return
    changed = sum(1 for row in output.rows if row["differs"])
    starts = sum(1 for row in output.rows if row["starts"])
    missing = sum(1 for row in output.rows if row["mode"] is None)
    console().print(
        f"{len(output.rows)} frames in {summary['seconds']:.1f} s, {starts} unbroken chains, {missing} missing; "
        f"another mode than mean field in {changed}\n"
        f"wrote {out}/: report.html, video.mp4, labels/, mean_field/, frames.json",
        highlight=False,
    )


@dataclass(frozen=True, eq=False)
class _Waiting:
    """A frame that is not decided yet: labels (H, W) of mean field and (K, H, W) of its modes, and their weights."""

    frame: Frame
    plain: Any = None
    labelings: Any = None
    weights: Any = None


class _Stream:
    """Frames with their modes, made when they are asked for; what is not decided yet waits."""

    def __init__(self, source: ScoredFrames, modes: int, seed: int, how: Solver, evidence: dict[str, Any]) -> None:
        self.source, self.modes, self.seed, self.how, self.evidence = source, modes, seed, how, evidence
        self.waiting: list[_Waiting] = []
        self.seconds = 0.0

    def __iter__(self) -> Iterator[tuple[Any, MixturePosterior | None, Any]]:
        import mixfield as mf

        for frame in self.source:
            if frame.image is None or frame.scores is None:
                self.waiting.append(_Waiting(frame))
                yield None, None, None
                continue
            started = time.perf_counter()
            energy = mf.segmentation_energy(frame.image, frame.scores, threads=self.how.threads, **self.evidence)
            posterior = mf.infer(energy, self.modes, rng=self.seed, solver=self.how)
            self.seconds += time.perf_counter() - started
            labelings = posterior.labelings()
            weights = posterior.calibrated(mf.ModeRanking(energy, frame.image))
            self.waiting.append(_Waiting(frame, labelings[posterior.plain], labelings, weights))
            yield frame.image, posterior, weights


class _Output:
    """The files, written as frames are decided."""

    def __init__(self, out: Path, rate: float) -> None:
        from mixfield.io.film import FilmWriter

        self.out, self.rows, self.shown = out, list[dict[str, Any]](), list["VideoFrame"]()
        self.film = FilmWriter(out / "video.mp4", rate)
        for name in ("labels", "mean_field"):
            (out / name).mkdir(parents=True, exist_ok=True)
        (out / DONE).unlink(missing_ok=True)  # of an earlier run, and not about the frames that follow

    def __enter__(self) -> _Output:
        return self

    def __exit__(self, *exc: object) -> None:
        self.film.close()

    def add(self, one: Decided, seen: _Waiting) -> None:
        """Write one frame."""
        from mixfield.io.images import write_label_map
        from mixfield.report.segmentation import side_by_side
        from mixfield.report.video_page import VideoFrame

        image, name = seen.frame.image, seen.frame.name
        row: dict[str, Any] = {"frame": name, "mode": None, "differs": 0.0, "matched": None, "starts": False}
        if one.labels is not None and image is not None:
            write_label_map(self.out / "labels" / f"{name}.png", one.labels)
            write_label_map(self.out / "mean_field" / f"{name}.png", seen.plain)
            self.film.add(side_by_side(image, seen.plain, one.labels))
            matched = None if one.matched != one.matched else one.matched
            differs = float((one.labels != seen.plain).mean())
            row |= {"mode": one.mode, "differs": differs, "matched": matched, "starts": one.starts}
            if len(self.shown) < SHOWN:
                modes = seen.labelings.astype("uint8" if seen.labelings.max() < 256 else "int32")
                number = len(self.rows)
                self.shown.append(VideoFrame(image, seen.plain, modes, seen.weights, one.mode, number=number))
        self.rows.append(row)

    def write_page(self, title: str, rate: float) -> None:
        """The page of the first frames, and what `mixfield report` makes it from."""
        from mixfield.report.results import write_video
        from mixfield.report.video_page import video_page

        write_video(self.out / "video.npz", self.shown)
        _files.write_text(self.out / "report.html", video_page(self.shown, frame_rate=rate, title=title))
