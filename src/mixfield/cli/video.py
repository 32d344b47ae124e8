"""``mixfield video``: one segmentation per frame, chosen among the modes of each by how they fit together."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixfield import _files
from mixfield.cli import batching
from mixfield.cli.options import Json, Seed, Threads, solver
from mixfield.cli.terminal import Progress, console

if TYPE_CHECKING:
    from mixfield.apps.segmentation import Kernels
    from mixfield.apps.video import Decided
    from mixfield.io.film import Frame, ScoredFrames
    from mixfield.mixture.posterior import MixturePosterior
    from mixfield.reports.video_page import VideoFrame

MODES = "modes"
DONE = "frames.json"  # written last: where it is, all frames are done
SHOWN = 100  # frames on the page, so that memory does not grow with the number of frames


@dataclass(frozen=True)
class _Modes:
    """The work on one frame: read, segment in several ways, save."""

    source: ScoredFrames
    modes: int
    kernels: Kernels | None
    logits: bool
    seed: int
    threads: int | None

    def __call__(self, frame: Frame, folder: Path) -> dict[str, Any]:
        """One item of a batch; tells the learnt probabilities of the modes."""
        import mixfield as mf
        from mixfield.apps import ModeRanking, segmentation_energy
        from mixfield.io.scores import read_scores

        assert frame.scores is not None
        started = time.perf_counter()
        how = solver(self.threads)
        image = self.source.picture(frame)
        energy = segmentation_energy(image, read_scores(frame.scores), kernels=self.kernels, logits=self.logits)
        posterior = mf.infer(energy, self.modes, rng=self.seed, solver=how)
        weights = posterior.calibrated(ModeRanking(energy, image))
        (folder / MODES).mkdir()
        posterior.save(folder / MODES / f"{frame.name}.npz")
        return {"weights": weights.tolist(), "seconds": time.perf_counter() - started}

    def settings(self) -> dict[str, Any]:
        """What the modes depend on; how one of each frame is chosen does not matter."""
        kernels = None if self.kernels is None else asdict(self.kernels)
        return {"video": True, "modes": self.modes, "kernels": kernels, "logits": self.logits, "seed": self.seed}


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
    stiffness: Annotated[
        float | None, typer.Option(help="Cost in nats if every point changed its label.  [default: 40]")
    ] = None,
    rate: Annotated[float, typer.Option(min=0.1, help="Frames per second of the film.")] = 5.0,
    logits: Annotated[bool, typer.Option("--logits", help="The scores are logits or log-probabilities.")] = False,
    kernels: Annotated[Path | None, typer.Option(help="Kernels as segment --tune writes them (.toml).")] = None,
    seed: Seed = 0,
    threads: Threads = None,
    engine: batching.Engine = "",
    workers: batching.Workers = None,
    scheduler: batching.Scheduler = "",
    as_json: Json = False,
) -> None:
    """Segment a video: labels that follow the points they belong to.

    Writes modes/ (posteriors), then labels/ and mean_field/ (indexed PNG), video.mp4 with both side by side,
    report.html, video.npz to make that page again, and at the end frames.json.
    """
    from mixfield import batch
    from mixfield.apps.video import Consistency, ModePath, follow
    from mixfield.errors import MixfieldError
    from mixfield.io.film import ScoredFrames
    from mixfield.io.kernels import read_kernels

    if out.exists() and not out.is_dir():
        raise MixfieldError(f"cannot write to {out}: it is a file, --out is a folder")
    source = ScoredFrames(frames.absolute(), scores.absolute())
    how = Consistency(lag=lag) if stiffness is None else Consistency(lag=lag, stiffness=stiffness)
    work = _Modes(source, modes, None if kernels is None else read_kernels(kernels), logits, seed, threads)
    every = source.frames()
    items = [batch.Item(f.name, f, (f.picture, f.scores)) for f in every if f.scores is not None]
    started = time.perf_counter()
    outcomes = batch.map(work, items, out, settings=work.settings(), engine=batching.engine(engine, workers, scheduler))
    results = batching.follow(outcomes, "frames", len(items), quiet=as_json)
    results.check()
    stream = _Stream(source, every, out / MODES, results.facts)
    with Progress("choice", len(every), quiet=as_json) as advance, _Output(out, rate) as output:
        for one in follow(stream, ModePath(how)):
            output.add(one, stream.waiting.pop(0))
            advance(len(output.rows))
    summary = {
        "frames": output.rows,
        "out": str(out),
        "seconds": time.perf_counter() - started,
        "seconds_modes": sum(facts["seconds"] for facts in results.facts.values()),
        "failures": results.failures,
    }
    output.write_page(frames.name, rate)
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
    console().print(
        f"{len(rows)} frames in {summary['seconds']:.1f} s{earlier}; {starts} unbroken chains, {missing} missing; "
        f"another mode than mean field in {changed}\n"
        f"wrote {out}/: report.html, video.mp4, labels/, mean_field/, modes/, frames.json",
        highlight=False,
        markup=False,
    )


@dataclass(frozen=True, eq=False)
class _Waiting:
    """A frame that is not decided yet: labels (H, W) of mean field and (K, H, W) of its modes, and their weights."""

    name: str
    image: Any = None
    plain: Any = None
    labelings: Any = None
    weights: Any = None


@dataclass(frozen=True)
class _Stream:
    """Frames with their modes, read when they are asked for; what is not decided yet waits."""

    source: ScoredFrames
    frames: list[Frame]
    folder: Path
    facts: dict[str, Any]
    waiting: list[_Waiting] = field(default_factory=list)

    def __iter__(self) -> Iterator[tuple[Any, MixturePosterior | None, Any]]:
        import mixfield as mf

        for frame in self.frames:
            if frame.name not in self.facts:
                self.waiting.append(_Waiting(frame.name))
                yield None, None, None
                continue
            image, posterior = self.source.picture(frame), mf.load(self.folder / f"{frame.name}.npz")
            labelings, weights = posterior.labelings(), self.facts[frame.name]["weights"]
            self.waiting.append(_Waiting(frame.name, image, labelings[posterior.root_mode], labelings, weights))
            yield image, posterior, weights


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

    def __exit__(self, kind: object, *exc: object) -> None:
        if kind is None:
            self.film.close()
        else:
            self.film.abandon()

    def add(self, one: Decided, seen: _Waiting) -> None:
        """Write one frame."""
        from mixfield.io.images import write_label_map
        from mixfield.reports.segmentation import side_by_side
        from mixfield.reports.video_page import VideoFrame

        image, name = seen.image, seen.name
        row: dict[str, Any] = {"frame": name, "mode": None, "differs": 0.0, "matched": None, "starts": False}
        if one.labels is None:  # and what an earlier run found is out of date
            for folder in ("labels", "mean_field"):
                (self.out / folder / f"{name}.png").unlink(missing_ok=True)
        else:
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
        from mixfield.reports.video_file import write_video
        from mixfield.reports.video_page import video_page

        write_video(self.out / "video.npz", self.shown)
        _files.write_text(self.out / "report.html", video_page(self.shown, frame_rate=rate, title=title))
