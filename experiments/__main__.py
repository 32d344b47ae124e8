"""``python -m experiments``: one command per experiment."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from mixfield.cli.options import Json, Threads
from mixfield.cli.terminal import Progress, counted, stoppable

app = typer.Typer(name="experiments", help="Repeat an experiment: numbers, figure and page.", no_args_is_help=True)

Data = Annotated[Path | None, typer.Option(help="Folder of the public data.  [default: MIXFIELD_DATA, ../shared/data]")]


Workers = Annotated[int | None, typer.Option(min=1, help="Measurements at a time.  [default: all cores]")]

KEPT = "Folder for single measurements; a stopped run goes on there."
PageOnly = Annotated[bool, typer.Option("--page-only", help="Write the page from what is done so far.")]

OUT = Path("docs/reproduction")
Out = Annotated[Path, typer.Option(help="Folder for the page, its figures and its numbers.")]


@app.callback()
def _group(threads: Threads = None) -> None:
    """Repeat an experiment: numbers, figure and page."""
    if threads is not None:
        os.environ["MIXFIELD_THREADS"] = str(threads)


def data_folder(told: Path | None) -> Path:
    """The folder of the public data sets."""
    return told or Path(os.environ.get("MIXFIELD_DATA", "../shared/data"))


@app.command()
def occupancy(
    data: Data = None,
    out: Annotated[Path, typer.Option(help="Folder for the page, its figure and its numbers.")] = Path(
        "docs/reproduction"
    ),
    work: Annotated[Path, typer.Option(help="Folder for posteriors; a stopped run goes on there.")] = Path(
        "reproduce-occupancy"
    ),
    frames: Annotated[
        int, typer.Option(min=1, max=400, help="Frames of PETS, evenly spread over the first 400.")
    ] = 400,
    scenes: Annotated[int, typer.Option(min=1, help="Synthetic scenes of ten frames per setting.")] = 10,
    as_json: Json = False,
) -> None:
    """People detection: MODA over the distance threshold on PETS 2009, and synthetic scenes."""
    from experiments import occupancy as experiment
    from experiments.pets import ANNOTATED, Pets

    folder = data_folder(data) / "people" / "pets09-s2l1"
    numbers = [k * ANNOTATED // frames for k in range(frames)]
    recordings = [Pets(folder, views) for views in ((1,), (1, 8))]
    walks = ((3, 1), (4, 2), (5, 2))
    results: dict[str, Any] = {"pets": [], "synthetic": []}
    steps = len(numbers) * len(recordings) + scenes * len(walks)
    with Progress("frames and scenes", steps, quiet=as_json, stopped=_goes_on(work)) as advance:
        say = counted(advance)
        for recording in recordings:
            results["pets"].append(experiment.pets_curves(recording, numbers, recording.kept(work), say))
        for people, cameras in walks:
            results["synthetic"].append(experiment.synthetic_hits(people, cameras, say, scenes=scenes))
    _wrote(experiment.write_page(results, out), as_json)


@app.command()
def tracking(
    data: Data = None,
    out: Out = OUT,
    work: Annotated[Path, typer.Option(help="Folder for posteriors; a stopped run goes on there.")] = Path(
        "reproduce-occupancy"
    ),
    frames: Annotated[int, typer.Option(min=0, max=400, help="Frames of PETS; 0 for the synthetic walks only.")] = 400,
    scenes: Annotated[int, typer.Option(min=0, help="Synthetic walks with doubts.")] = 5,
    page_only: PageOnly = False,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """People through time: MODA with and without tracks, on PETS 2009 and on synthetic walks."""
    from experiments import people
    from experiments import tracking as experiment
    from experiments.measured import kept
    from experiments.pets import Pets
    from experiments.provenance import provenance
    from experiments.tracking_page import write_page

    folder = data_folder(data) / "people" / "pets09-s2l1"
    recordings = [Pets(folder, views) for views in ((1,), (1, 8))] if frames else []
    recorded = [experiment.Recorded(recording, frames, recording.kept(work)) for recording in recordings]
    tasks = experiment.tasks([*recorded, *map(experiment.Walked, range(scenes))])
    measured = work / f"tracking-{frames}"
    if not page_only:
        with Progress("modes of frames", len(recorded) * frames, quiet=as_json, stopped=_goes_on(work)) as advance:
            say = counted(advance)
            for source in recorded:
                people.detected(source.recording, range(frames), source.folder, say)
        _measure(experiment.measure, tasks, measured, "tracks", workers=workers, quiet=as_json)
    about = provenance("mixfield reproduce tracking", frames=frames, seeds=f"0 to {scenes - 1} for walks")
    _wrote(write_page(kept(tasks, measured).values(), about, out), as_json)


@app.command()
def synthetic(
    out: Out = OUT,
    work: Annotated[Path, typer.Option(help=KEPT)] = Path("reproduce-synthetic"),
    instances: Annotated[int, typer.Option(min=1, help="Fields of each family.")] = 100,
    modes: Annotated[int, typer.Option(min=2, help="Most modes; 13 x 13 stops at 128.")] = 200,
    quick: Annotated[bool, typer.Option("--quick", help="7 x 7, 10 instances, 16 modes, one preset.")] = False,
    page_only: PageOnly = False,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Random fields: distance to the posterior over the number of modes, against clamping and restarts."""
    from experiments import synthetic as experiment
    from experiments.measured import kept
    from experiments.provenance import provenance
    from experiments.synthetic_page import write_page

    kinds = experiment.families(("mmmf",), (7,)) if quick else experiment.families()
    instances, modes = (min(instances, 10), min(modes, 16)) if quick else (instances, modes)
    wanted = experiment.tasks(kinds, instances, modes)
    if not page_only:
        _measure(experiment.measure, wanted, work, "random fields", workers=workers, quiet=as_json)
    measured = list(kept(wanted, work).values())
    command = "mixfield reproduce synthetic" + (" --quick" if quick else "")
    about = provenance(command, instances=instances, seeds=f"instance number, 0 to {instances - 1}")
    _wrote(write_page(measured, about, out), as_json)


@app.command()
def temperature(
    data: Data = None,
    out: Out = OUT,
    work: Annotated[Path, typer.Option(help=KEPT)] = Path("reproduce-temperature"),
    quick: Annotated[bool, typer.Option("--quick", help="A smaller picture, fewer temperatures and graphs.")] = False,
    page_only: PageOnly = False,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Phase transitions of dense CRFs: entropy over temperature, the fixed point, where random graphs split."""
    from experiments import photos, splitting
    from experiments import temperature as experiment
    from experiments.measured import kept
    from experiments.provenance import provenance
    from experiments.temperature_page import write_page

    folder = data_folder(data) / "segmentation" / "vocval7"
    photo = photos.network_photo(folder) if folder.is_dir() else photos.drawn_photo()
    photo = photo.reduced(64 if quick else 170)
    tasks = experiment.tasks(photo, quick=quick)
    if not page_only:
        _measure(experiment.measure, tasks, work, "temperatures", workers=workers, quiet=as_json)
    found = list(kept(tasks, work).values())
    graphs = [row for row in found if row["what"] == "graph"]
    seeds = f"0 for noise and starts, 0 to {len(graphs[0]['predicted']) - 1} for graphs" if graphs else "0"
    results: dict[str, Any] = {
        "made_by": provenance("mixfield reproduce temperature" + (" --quick" if quick else ""), seeds=seeds),
        "photo": photo.name,
        "shape": list(photo.foreground.shape),
        "starts": splitting.STARTS,
        "models": {row["name"]: row for row in found if row["what"] == "model"},
        "with_unaries": [row for row in found if row["what"] == "unary"],
        "graphs": graphs,
    }
    _wrote(write_page(results, out), as_json)


@app.command()
def motivation(
    out: Out = OUT,
    work: Annotated[Path, typer.Option(help=KEPT)] = Path("reproduce-motivation"),
    seeds: Annotated[int, typer.Option(min=1, help="Drawings of the four zones.")] = 20,
    quick: Annotated[bool, typer.Option("--quick", help="Three drawings.")] = False,
    page_only: PageOnly = False,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Four zones: what mean field commits to, and the two modes behind it."""
    from experiments import motivation as experiment
    from experiments.measured import kept
    from experiments.provenance import provenance

    tasks = experiment.tasks(min(seeds, 3) if quick else seeds)
    if not page_only:
        _measure(experiment.measure, tasks, work, "four zones", workers=workers, quiet=as_json)
    rows = list(kept(tasks, work).values())
    about = provenance("mixfield reproduce motivation" + (" --quick" if quick else ""), seeds=f"0 to {len(tasks) - 1}")
    _wrote(experiment.write_page(rows, about, out), as_json)


@app.command()
def segmentation(
    data: Data = None,
    out: Out = OUT,
    work: Annotated[Path, typer.Option(help=KEPT)] = Path("reproduce-segmentation"),
    modes: Annotated[int, typer.Option(min=2, help="Segmentations of every seventh image; others get 8.")] = 32,
    images: Annotated[int | None, typer.Option(min=1, help="Images of each set.  [default: all]")] = None,
    step: Annotated[
        int | None, typer.Option(help="Measure images of one size only: 3 for a third, 1 for the whole.")
    ] = None,
    page_only: PageOnly = False,
    workers: Annotated[int, typer.Option(min=1, help="Measurements at a time.")] = 1,
    as_json: Json = False,
) -> None:
    """Still images: the best of K segmentations against DivMBest, restarts and noise, on two networks."""
    from experiments import segmentation as experiment
    from experiments.measured import kept
    from experiments.provenance import provenance
    from experiments.segmentation_page import write_page
    from experiments.segmentation_pictures import write_pictures

    tasks = experiment.tasks(data_folder(data), count=modes, images=images)
    if not page_only:
        settings = {"modes": modes}
        wanted = experiment.tasks(data_folder(data), count=modes, images=images, step=step)
        _measure(experiment.measure, wanted, work, "images", workers=workers, quiet=as_json, settings=settings)
    rows = list(kept(tasks, work).values())
    about = provenance(
        "mixfield reproduce segmentation", modes=modes, images=images, measured=len(rows), tasks=len(tasks), seeds="0"
    )
    out.mkdir(parents=True, exist_ok=True)
    pictures = write_pictures(data_folder(data), rows, out, net=experiment.NETWORKS[0], count=experiment.FEW)
    _wrote(write_page(rows, about, pictures, out), as_json)


@app.command()
def video(
    data: Data = None,
    out: Out = OUT,
    work: Annotated[Path, typer.Option(help=KEPT)] = Path("reproduce-video"),
    modes: Annotated[int, typer.Option(min=2, help="Modes of a frame.")] = 8,
    every: Annotated[int, typer.Option(min=1, help="Every so many frames of a sequence.")] = 1,
    step: Annotated[int, typer.Option(min=1, help="Blocks of so many pixels a side are made one.")] = 1,
    page_only: PageOnly = False,
    as_json: Json = False,
) -> None:
    """Videos: one mode per frame by a shortest path, against mean field and MaxW clamping."""
    from experiments import video as experiment
    from experiments.measured import kept
    from experiments.provenance import provenance

    tasks = experiment.tasks(data_folder(data), count=modes, every=every, step=step)
    if not page_only:  # one after the other: each frame needs the one before
        settings = {"modes": modes, "every": every, "step": step}
        _measure(experiment.measure, tasks, work, "frames", workers=1, quiet=as_json, settings=settings)
    command = f"mixfield reproduce video --modes {modes} --every {every} --step {step}"
    about = provenance(command, modes=modes, every=every, step=step, seeds="0")
    _wrote(experiment.write_page(list(kept(tasks, work).values()), about, out), as_json)


def _measure(
    measure: Callable[..., dict[str, Any]],
    tasks: Mapping[str, tuple[Any, ...]],
    folder: Path,
    what: str,
    *,
    workers: int | None,
    quiet: bool,
    settings: dict[str, Any] | None = None,
) -> None:
    """Take the measurements that are not in the folder yet."""
    from experiments.measured import Measured, items
    from mixfield import _threads, batch
    from mixfield.cli.batching import engine, follow

    where = engine("", workers or _threads.available(), "")
    outcomes = batch.map(Measured(measure), items(tasks), folder, settings=settings or {}, engine=where)
    follow(outcomes, what, len(tasks), quiet=quiet).conclude(quiet=quiet)


def _wrote(page: Path, as_json: bool) -> None:
    """Say where the page and its numbers are."""
    numbers = page.with_suffix(".json")
    typer.echo(json.dumps({"page": str(page), "json": str(numbers)}) if as_json else f"wrote {page}")


def _goes_on(work: Path) -> str:
    return f"posteriors of recorded frames are kept in {work}, and the same command goes on from there"


def main() -> None:
    """Run an experiment: bad input is one sentence and exit code 2."""
    from mixfield.errors import MixfieldError, sentence

    for experiment in app.registered_commands:
        if experiment.callback is not None:
            experiment.callback = stoppable(experiment.callback)
    try:
        app()
    except (MixfieldError, OSError) as error:
        typer.echo(f"experiments: {sentence(error)}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
