"""``mixfield segment``: several weighted segmentations of images."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixfield.cli import batching
from mixfield.cli.options import Json, Seed, Threads, check_folder, solver
from mixfield.cli.terminal import Progress, console

if TYPE_CHECKING:
    from mixfield.apps.segmentation import Kernels
    from mixfield.apps.tuning import Tuning


@dataclass(frozen=True)
class _Segmented:
    """The work on one image: read, segment, write into a folder."""

    modes: int
    kernels: Kernels | None
    evidence: dict[str, Any]
    seed: int
    threads: int | None

    def __call__(self, files: tuple[Path, Path], folder: Path) -> dict[str, Any]:
        """One item of a batch: results go to a folder named after the image."""
        return self.one(*files, folder / files[0].stem, lambda _: None)

    def one(self, image: Path, scores: Path, out: Path, advance: Callable[[int], None]) -> dict[str, Any]:
        """Segment an image, write what was found and return its facts."""
        import mixfield as mf
        from mixfield.apps import entropy_gap, segmentation_energy
        from mixfield.io.images import read_image
        from mixfield.io.scores import read_scores
        from mixfield.reports.segmentation import write_segmentation

        started = time.perf_counter()
        how = solver(self.threads)
        picture = read_image(image)
        energy = segmentation_energy(picture, read_scores(scores), kernels=self.kernels, **self.evidence)
        posterior = mf.infer(energy, self.modes, rng=self.seed, solver=how, progress=advance)
        gap = entropy_gap(energy, posterior.modes[0], solver=how)
        solved = time.perf_counter()
        result = write_segmentation(out, picture, posterior, gap)
        return result | {"seconds": solved - started, "seconds_writing": time.perf_counter() - solved}

    def settings(self) -> dict[str, Any]:
        """What the results depend on; threads do not change them."""
        kernels = None if self.kernels is None else asdict(self.kernels)
        return {"modes": self.modes, "kernels": kernels, "evidence": self.evidence, "seed": self.seed}


def segment(
    image: Annotated[Path | None, typer.Argument(help="An image, or a folder of images.")] = None,
    scores: Annotated[
        Path | None,
        typer.Option(help="Probabilities (.npy, .npz) or a label map (.png); for a folder, a folder of them."),
    ] = None,
    modes: Annotated[int, typer.Option(min=1, help="How many segmentations to look for.")] = 4,
    out: Annotated[Path, typer.Option(help="Folder for the results; a stopped run goes on there.")] = Path(
        "mixfield-segment"
    ),
    kernels: Annotated[Path | None, typer.Option(help="Kernels as --tune writes them (.toml).")] = None,
    tune: Annotated[
        Path | None, typer.Option(help="Choose kernels on a folder with images/, scores/ and truth/ instead.")
    ] = None,
    logits: Annotated[bool, typer.Option("--logits", help="The scores are logits or log-probabilities.")] = False,
    certainty: Annotated[
        float | None, typer.Option(help="Probability that a label map is right.  [default: 0.9]")
    ] = None,
    unknown: Annotated[list[int] | None, typer.Option(help="Unknown in a label map.  [default: -1 and 255]")] = None,
    labels: Annotated[
        int | None, typer.Option(min=1, help="Labels of a label map.  [default: as many as seen]")
    ] = None,
    seed: Seed = 0,
    threads: Threads = None,
    engine: batching.Engine = "",
    workers: batching.Workers = None,
    scheduler: batching.Scheduler = "",
    as_json: Json = False,
) -> None:
    """Segment an image, or a folder of images, in several ways, each with its probability."""
    from mixfield.errors import MixfieldError
    from mixfield.io.images import pillow
    from mixfield.io.kernels import read_kernels

    pillow()
    check_folder(out)
    if tune is not None:
        _tune(tune, out, logits, solver(threads), as_json)
        return
    if image is None or scores is None:
        raise MixfieldError("give an image (or a folder of images) and its --scores, or --tune and a folder")
    options = {"logits": logits, "certainty": certainty, "unknown": unknown or None, "n_labels": labels}
    evidence = {name: value for name, value in options.items() if value is not None}
    chosen = None if kernels is None else read_kernels(kernels)
    work = _Segmented(modes, chosen, evidence, seed, threads)
    how = batching.engine(engine, workers, scheduler)
    if image.is_dir():
        _folder(image, scores, out, work, how, as_json)
        return
    fewer = "nothing was written; the same command begins again, and fewer --modes take less time"
    with Progress("modes", modes, quiet=as_json, stopped=fewer) as advance:
        result = {"image": str(image), "out": str(out)} | work.one(image, scores, out, advance)
    if as_json:
        typer.echo(json.dumps(result))
        return
    _print_modes(image.name, result)
    console().print(
        f"wrote {out}/: figure.png, mode_1.png ..., marginals.npz, result.npz", highlight=False, markup=False
    )


def _folder(images: Path, scores: Path, out: Path, work: _Segmented, engine: Any, as_json: bool) -> None:
    """Segment every image of a folder; one that fails does not stop the others."""
    from mixfield import _files, batch
    from mixfield.io.folders import pairs

    found, unmatched = pairs(images, scores)
    items = [batch.Item(files[0].name, tuple(path.absolute() for path in files), files) for files in found]
    outcomes = batch.map(work, items, out, settings=work.settings(), engine=engine)
    results = batching.follow(outcomes, "images", len(items), quiet=as_json)
    results.failures = unmatched | results.failures
    rows = [
        {"image": str(image), "out": str(out / image.stem)} | results.facts[image.name]
        for image, _ in found
        if image.name in results.facts
    ]
    summary = {"images": rows, "failures": results.failures}
    _files.write_text(out / "summary.json", json.dumps(summary, indent=1) + "\n")
    if as_json:
        typer.echo(json.dumps(summary))
    elif rows:
        _print_images(rows, results, out)
    results.conclude(quiet=as_json)


def _tune(folder: Path, out: Path, logits: bool, how: Any, as_json: bool) -> None:
    """Choose kernels, print the table and write ``kernels.toml``."""
    from mixfield.apps.tuning import TOLERANCE, tune
    from mixfield.io.folders import annotated
    from mixfield.io.kernels import write_kernels

    count, examples = annotated(folder)
    again = "no kernels were written; the same command begins again, and fewer images take less time"
    with Progress("images", count, quiet=as_json, stopped=again) as advance:
        found = tune(examples, logits=logits, solver=replace(how, tolerance=TOLERANCE), progress=advance)
    out.mkdir(parents=True, exist_ok=True)
    write_kernels(out / "kernels.toml", found.kernels)
    if as_json:
        typer.echo(json.dumps(asdict(found) | {"kernels_file": str(out / "kernels.toml")}))
        return
    _print_tuning(found, count)
    console().print(f"wrote {out / 'kernels.toml'}: use it with --kernels", highlight=False)


def _print_modes(name: str, result: dict[str, Any]) -> None:
    rows = [
        (k, f"{weight:.4f}", f"{mode['log_z']:.2f}", f"{100 * mode['differs']:.2f} %", mode["labels"])
        for k, (weight, mode) in enumerate(zip(result["weights"], result["modes"], strict=True), 1)
    ]
    title = f"{name}: {result['shape'][1]} x {result['shape'][0]} pixels, {result['seconds']:.2f} s"
    batching.table(title, ("mode", "weight", "log Z_k", "differs from mode 1", "labels"), rows)
    for note in result["notes"]:
        console().print(f"note: {note}", highlight=False, markup=False)


def _print_images(rows: list[dict[str, Any]], results: batching.Results, out: Path) -> None:
    shown = [
        (
            Path(row["image"]).name,
            len(row["weights"]),
            f"{row['weights'][0]:.4f}",
            f"{100 * max(mode['differs'] for mode in row['modes']):.2f} %",
            f"{row['seconds']:.2f}",
        )
        for row in rows
    ]
    heads = ("image", "modes", "weight of mode 1", "largest difference", "seconds")
    earlier = f", {results.tally.reused} of them by an earlier run" if results.tally.reused else ""
    title = f"{len(rows)} images segmented{earlier}, {len(results.failures)} failed; results in {out}"
    batching.table(title, heads, shown)


def _print_tuning(found: Tuning, count: int) -> None:
    order = sorted(range(len(found.grid)), key=lambda k: -found.mean_ious[k])
    rows = [
        (
            *(f"{value:g}" for value in vars(found.grid[k]).values()),
            f"{100 * found.mean_ious[k]:.2f}",
            " ".join(["chosen"] * (found.grid[k] == found.kernels) + ["default"] * (k == 0)),
        )
        for k in order
    ]
    batching.table(f"mean IoU in % over {count} images", (*vars(found.kernels), "mean IoU", ""), rows)
    console().print(
        f"scores alone {100 * found.scores:.2f}, default kernels {100 * found.defaults:.2f}, "
        f"kernels chosen without the image they are used on {100 * found.held_out:.2f}",
        highlight=False,
    )
