"""``mixfield segment``: several weighted segmentations of images."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixfield.cli.options import Json, Seed, Threads, solver
from mixfield.cli.terminal import Progress, console

if TYPE_CHECKING:
    from mixfield.apps.segmentation import Kernels
    from mixfield.apps.tuning import Tuning


@dataclass(frozen=True)
class _Settings:
    """How every image is segmented."""

    modes: int
    kernels: Kernels | None
    evidence: dict[str, Any]
    seed: int
    solver: Any


def segment(
    image: Annotated[Path | None, typer.Argument(help="An image, or a folder of images.")] = None,
    scores: Annotated[
        Path | None,
        typer.Option(help="Probabilities (.npy, .npz) or a label map (.png); for a folder, a folder of them."),
    ] = None,
    modes: Annotated[int, typer.Option(min=1, help="How many segmentations to look for.")] = 4,
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("mixfield-segment"),
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
    as_json: Json = False,
) -> None:
    """Segment an image, or a folder of images, in several ways, each with its probability."""
    from mixfield.errors import MixfieldError
    from mixfield.io.images import pillow
    from mixfield.io.kernels import read_kernels

    pillow()
    if out.exists() and not out.is_dir():
        raise MixfieldError(f"cannot write to {out}: it is a file, --out is a folder")
    if tune is not None:
        _tune(tune, out, logits, solver(threads), as_json)
        return
    if image is None or scores is None:
        raise MixfieldError("give an image (or a folder of images) and its --scores, or --tune and a folder")
    options = {"logits": logits, "certainty": certainty, "unknown": unknown or None, "n_labels": labels}
    evidence = {name: value for name, value in options.items() if value is not None}
    chosen = None if kernels is None else read_kernels(kernels)
    settings = _Settings(modes, chosen, evidence, seed, solver(threads))
    if image.is_dir():
        _folder(image, scores, out, settings, as_json)
        return
    with Progress("modes", modes, quiet=as_json) as advance:
        result = _one(image, scores, out, settings, advance)
    if as_json:
        typer.echo(json.dumps(result))
        return
    _print_modes(image.name, result)
    console().print(f"wrote {out}/: figure.png, mode_1.png ..., marginals.npz, result.npz", highlight=False)


def _one(image: Path, scores: Path, out: Path, settings: _Settings, advance: Callable[[int], None]) -> dict[str, Any]:
    """Segment one image and write what was found."""
    import mixfield as mf
    from mixfield.io.images import read_image
    from mixfield.io.scores import read_scores
    from mixfield.report.segmentation import write_segmentation

    started = time.perf_counter()
    picture = read_image(image)
    energy = mf.segmentation_energy(
        picture, read_scores(scores), kernels=settings.kernels, threads=settings.solver.threads, **settings.evidence
    )
    posterior = mf.infer(energy, settings.modes, rng=settings.seed, solver=settings.solver, progress=advance)
    gap = mf.entropy_gap(energy, posterior.modes[0], solver=settings.solver)
    solved = time.perf_counter()
    result = write_segmentation(out, picture, posterior, gap)
    times = {"seconds": solved - started, "seconds_writing": time.perf_counter() - solved}
    return {"image": str(image), "out": str(out)} | result | times


def _folder(images: Path, scores: Path, out: Path, settings: _Settings, as_json: bool) -> None:
    """Segment every image of a folder; one that fails does not stop the others."""
    from mixfield.errors import MixfieldError
    from mixfield.io.folders import pairs

    todo, failures = pairs(images, scores)
    results = []
    with Progress("images", len(todo) * settings.modes, quiet=as_json) as advance:
        for k, (image, evidence) in enumerate(todo):
            before = k * settings.modes
            try:
                step = _after(before, advance)
                results.append(_one(image, evidence, out / image.stem, settings, step))
            except (MixfieldError, OSError, MemoryError) as error:
                failures[image.name] = str(error) or type(error).__name__
            advance(before + settings.modes)
    out.mkdir(parents=True, exist_ok=True)
    summary = {"images": results, "failures": failures}
    (out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    if as_json:
        typer.echo(json.dumps(summary))
    else:
        _print_images(results, failures, out)
    if failures:
        raise typer.Exit(1)


def _after(before: int, advance: Callable[[int], None]) -> Callable[[int], None]:
    return lambda done: advance(before + done)


def _tune(folder: Path, out: Path, logits: bool, how: Any, as_json: bool) -> None:
    """Choose kernels, print the table and write ``kernels.toml``."""
    from mixfield.apps.tuning import TOLERANCE, tune
    from mixfield.io.folders import annotated
    from mixfield.io.kernels import write_kernels

    count, examples = annotated(folder)
    with Progress("images", count, quiet=as_json) as advance:
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
    _print_table(title, ("mode", "weight", "log Z_k", "differs from mode 1", "labels"), rows)
    for note in result["notes"]:
        console().print(f"note: {note}", highlight=False)


def _print_images(results: list[dict[str, Any]], failures: dict[str, str], out: Path) -> None:
    rows = [
        (
            Path(result["image"]).name,
            len(result["weights"]),
            f"{result['weights'][0]:.4f}",
            f"{100 * max(mode['differs'] for mode in result['modes']):.2f} %",
            f"{result['seconds']:.2f}",
        )
        for result in results
    ]
    heads = ("image", "modes", "weight of mode 1", "largest difference", "seconds")
    _print_table(f"{len(results)} images segmented, {len(failures)} failed; results in {out}", heads, rows)
    for name, reason in failures.items():
        typer.echo(f"failed: {name}: {reason}", err=True)


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
    _print_table(f"mean IoU in % over {count} images", (*vars(found.kernels), "mean IoU", ""), rows)
    console().print(
        f"scores alone {100 * found.scores:.2f}, default kernels {100 * found.defaults:.2f}, "
        f"kernels chosen without the image they are used on {100 * found.held_out:.2f}",
        highlight=False,
    )


def _print_table(title: str, heads: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for head in heads:
        table.add_column(head, justify="right")
    for row in rows:
        table.add_row(*map(str, row))
    console().print(table)
