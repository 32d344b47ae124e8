"""``mixfield fit``: a model of the field behind network scores, fitted to annotated images."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixfield.cli.options import Json, Seed, Threads, check_target, solver
from mixfield.cli.terminal import Progress, command, print_table, say

if TYPE_CHECKING:
    from mixfield.apps.field_model import FieldModel
    from mixfield.apps.measure import Measure

NOTHING_WRITTEN = "no model was written; the same command begins again, and fewer images take less time"


def fit(
    annotated: Annotated[
        Path,
        typer.Argument(
            help="Folder with images/, scores/ and truth/: files of the same name in each, truth as label maps (.png, "
            "255 where unknown)."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The model (.toml).")] = Path("model.toml"),
    logits: Annotated[bool, typer.Option("--logits", help="The scores are logits or log-probabilities.")] = False,
    folds: Annotated[int, typer.Option(min=2, help="Parts of the images, each judged by a fit to the others.")] = 5,
    seed: Seed = 0,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Fit a model of the field to annotated images, for segment --model and video --model.

    Chooses the exponent of the scores and the kernels by the likelihood of pixels, and calibrates the probabilities of
    segmentations.  The table compares with the scores alone, each image by a fit that did not see it.
    """
    from mixfield.apps.fitting import STEPS
    from mixfield.apps.fitting import fit as fit_model
    from mixfield.io.folders import annotated as annotated_files
    from mixfield.io.images import read_image, read_label_map
    from mixfield.io.scores import read_scores

    check_target(out)
    images, scores, truths = zip(*annotated_files(annotated), strict=True)
    arrays = map(read_image, images), map(read_scores, scores), map(read_label_map, truths)
    options: dict[str, Any] = {"folds": folds, "logits": logits, "rng": seed, "names": [image.name for image in images]}
    steps = STEPS * len(images)
    with Progress("fits", steps, quiet=as_json, stopped=NOTHING_WRITTEN) as advance, solver(threads) as how:
        model = fit_model(*arrays, **options, solver=how, progress=advance)
    model.save(out)
    if as_json:
        typer.echo(json.dumps(asdict(model) | {"model": str(out)}))
        return
    _print(model)
    say(f"wrote {out}", f"next: {command('mixfield', 'segment', 'photo.jpg', '--scores', 'probs.npy', '--model', out)}")


def _print(model: FieldModel) -> None:
    from mixfield.apps.fitting import MEAN_IOU

    heads = ("on held-out images", "scores alone", "model", "difference", "95 % interval")
    print_table(f"fitted to {model.images} images", heads, [_row(measure) for measure in model.table])
    if model.kernels is None:
        say("the scores alone are best: the model has no kernels, and every image comes back with one segmentation")
        return
    iou = next(row for row in model.table if row.name == MEAN_IOU)
    if iou.model < iou.scores:
        say(
            f"the likelihood of the pixels is better, but the mean IoU is {100 * (iou.scores - iou.model):.2f} points "
            "below that of the scores"
        )
    numbers = ", ".join(f"{name} {value:g}" for name, value in asdict(model.kernels).items())
    say(f"exponent of the scores {model.exponent:g}; kernels {numbers}")


def _row(measure: Measure) -> tuple[str, ...]:
    interval = f"{measure.low:+.4f} to {measure.high:+.4f}"
    change = measure.model - measure.scores
    return measure.name, f"{measure.scores:.4f}", f"{measure.model:.4f}", f"{change:+.4f}", interval
