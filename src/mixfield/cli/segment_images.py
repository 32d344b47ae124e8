"""One image, or a folder of images as a batch, for ``mixfield segment``."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mixfield import _files
from mixfield.cli import batching
from mixfield.cli.field_models import field_settings
from mixfield.cli.options import solver
from mixfield.cli.segment_export import export
from mixfield.cli.terminal import Progress, command, print_table, say

if TYPE_CHECKING:
    from mixfield.batch import Engine

SETTINGS = "settings.json"
NOTHING_WRITTEN = "nothing was written; the same command begins again, and --modes 1 takes less time"


@dataclass(frozen=True)
class SegmentImage:
    """The work on one image: read, segment, write.

    Attributes
    ----------
    modes, seed, threads : options of the verb.
    field : options of `mixfield.segment` about the field, see `field_options`.
    evidence : options of `mixfield.segment` about its scores.
    names : of the labels; empty for those that the scores hold.
    """

    modes: int
    field: dict[str, Any]
    evidence: dict[str, Any]
    seed: int
    threads: int | None
    names: tuple[str, ...] = ()

    def __call__(self, files: tuple[Path, Path], folder: Path) -> dict[str, Any]:
        """An item of a batch: an image and its scores; the results are in a folder named after the image."""
        return self.write(*files, folder / files[0].stem)

    def write(
        self, image: Path, scores: Path, out: Path, advance: Callable[[int], None] | None = None
    ) -> dict[str, Any]:
        """Segment an image, write the results into a folder and return their facts."""
        from mixfield.apps import entropy_gap, segmentation_field, solve_field
        from mixfield.apps.strokes import stroke_labels
        from mixfield.io.images import read_image
        from mixfield.io.names import names_in_scores
        from mixfield.io.scores import read_scores
        from mixfield.reports.segmentation import Given, write_segmentation
        from mixfield.reports.strokes import write_strokes

        started = time.perf_counter()
        picture = read_image(image)
        evidence, names = read_scores(scores), self.names or names_in_scores(scores)
        with solver(self.threads) as how:
            if self._are_strokes(evidence):
                labels = {name: value for name, value in self.evidence.items() if name in ("unknown", "n_labels")}
                self._check_names(stroke_labels(evidence, **labels))
                options = {"names": names, "rng": self.seed, "solver": how, "progress": advance, **labels}
                facts = write_strokes(out, picture, evidence, self.modes, **options)
                return facts | {"seconds": time.perf_counter() - started, "seconds_writing": 0.0}
            field = segmentation_field(picture, evidence, **self.field, **self.evidence)
            self._check_names(field.energy.n_labels)
            posterior = solve_field(field, self.modes, rng=self.seed, solver=how, progress=advance)
            calibrated = posterior.calibration is not None
            gap = None if calibrated else entropy_gap(field.energy, posterior.modes[0], solver=how)
        solved = time.perf_counter()
        facts = write_segmentation(out, picture, posterior, gap, Given(names=names))
        return facts | {"seconds": solved - started, "seconds_writing": time.perf_counter() - solved}

    def _check_names(self, n_labels: int) -> None:
        """Refuse names that are given for fewer labels than there are: they may be those of other labels."""
        from mixfield.errors import MixfieldError

        if self.names and len(self.names) < n_labels:
            raise MixfieldError(f"--names must have a name for each of the {n_labels} labels, got {len(self.names)}")

    def _are_strokes(self, evidence: Any) -> bool:
        """Whether scores are strokes that are segmented by regions."""
        from mixfield.apps import is_strokes
        from mixfield.apps.evidence import UNKNOWN

        dense = bool(self.field) or self.evidence.get("logits", False)
        return not dense and is_strokes(evidence, self.evidence.get("unknown", UNKNOWN))

    @property
    def searched(self) -> int:
        """How many modes are searched for; of strokes as many as are offered."""
        from mixfield.apps.field_model import searched

        return self.modes if "kernels" in self.field else searched(self.modes)

    def settings(self) -> dict[str, Any]:
        """Everything that the results depend on; threads do not change them."""
        from mixfield import __version__

        fixed = {"mixfield": __version__, "modes": self.modes, "evidence": self.evidence, "seed": self.seed}
        return fixed | field_settings(self.field) | ({"names": list(self.names)} if self.names else {})


def segment_image(
    work: SegmentImage,
    image: Path,
    scores: Path,
    out: Path,
    formats: Sequence[str] = (),
    *,
    nats: bool,
    as_json: bool,
) -> None:
    """Segment one image; a folder with a result of other settings or of another image is refused, as by a batch."""
    settings = work.settings() | {"image": image.name}
    _check_settings(out, settings)
    with Progress("modes", work.searched, quiet=as_json, stopped=NOTHING_WRITTEN) as advance:
        facts = {"image": str(image), "out": str(out)} | work.write(image, scores, out, advance)
    _files.write_text(out / SETTINGS, json.dumps(settings) + "\n")
    exported = export(formats, [facts], out)
    if as_json:
        typer.echo(json.dumps(facts))
        return
    _print_modes(image.name, facts, nats=nats)
    say(f"wrote {out}/: figure.png, mode_1.png ..., marginals.npz, result.npz", *(f"wrote {path}" for path in exported))
    say(f"next: {command('mixfield', 'report', out)}")


def _check_settings(out: Path, settings: dict[str, Any]) -> None:
    """Raise a `MixfieldError` if a folder has results that are not of this image and these settings."""
    from mixfield.batch import manifest
    from mixfield.errors import MixfieldError
    from mixfield.io.documents import read_json
    from mixfield.reports.segmentation import RESULT

    if not any((out / name).exists() for name in (SETTINGS, RESULT, manifest.NAME)):
        return
    earlier = read_json(out / SETTINGS) if (out / SETTINGS).is_file() else None
    if earlier == json.loads(json.dumps(settings)):
        return
    image = earlier.get("image") if isinstance(earlier, dict) else None
    other = "other settings" if image in (None, settings["image"]) else f"another image, {image}"
    raise MixfieldError(f"{out} holds results of {other}; give another folder (--out), or empty it")


def _check_no_single_image(out: Path) -> None:
    """Raise a `MixfieldError` if a folder has the result of a single image, whose page would hide those of others."""
    from mixfield.errors import MixfieldError
    from mixfield.reports.segmentation import RESULT

    if (out / RESULT).exists():
        raise MixfieldError(f"{out} holds the result of a single image; give another folder (--out), or empty it")


def segment_folder(
    work: SegmentImage,
    images: Path,
    scores: Path,
    out: Path,
    formats: Sequence[str] = (),
    *,
    engine: Engine,
    as_json: bool,
) -> None:
    """Segment every image of a folder; an image that fails does not stop the others."""
    from mixfield import batch
    from mixfield.io.folders import pairs

    _check_no_single_image(out)
    matched, unmatched = pairs(images, scores)
    unmatched |= batching.reserved(image for image, _ in matched)
    matched = [files for files in matched if files[0].name not in unmatched]
    items = [batch.Item(files[0].name, tuple(path.absolute() for path in files), files) for files in matched]
    outcomes = batch.map(work, items, out, settings=work.settings(), engine=engine)
    results = batching.follow(outcomes, "images", len(items), quiet=as_json)
    results.failures = unmatched | results.failures
    rows = [
        {"image": str(image), "out": str(out / image.stem)} | results.facts[image.name]
        for image, _ in matched
        if image.name in results.facts
    ]
    summary = {"images": rows, "failures": results.failures}
    _files.write_text(out / batching.SUMMARY, json.dumps(summary, indent=1) + "\n")
    exported = export(formats, rows, out)
    if as_json:
        typer.echo(json.dumps(summary))
    elif rows:
        _print_images(rows, results, out)
        say(*(f"wrote {path}" for path in exported), f"next: {command('mixfield', 'report', out)}")
    results.conclude(quiet=as_json)


def _print_modes(name: str, facts: dict[str, Any], *, nats: bool) -> None:
    """Print the modes with their questions; with ``nats`` their bounds and the weights of the energy too."""
    from mixfield.reports.about import ONE_HOT, two_probabilities, weight_name
    from mixfield.reports.page import percent

    modes, rows = facts["modes"], []
    for k, (mode, weight) in enumerate(zip(modes, facts["weights"], strict=True)):
        bounds = (f"{modes[0]['log_z'] - mode['log_z']:.2f}", f"{facts['model_weights'][k]:.4f}") if nats else ()
        rows.append((f"mode {k + 1}", percent(weight), *bounds, mode["about"]))
    height, width = facts["shape"]
    title = f"{name}: {width} x {height} pixels, {facts['seconds']:.2f} s"
    heads = ("nats below mode 1", "weight by the energy") if nats else ()
    last = "question" if facts["calibrated"] else "difference"
    print_table(title, ("", weight_name(facts["calibrated"]), *heads, last), rows, texts=(last,))
    say(*(f"note: {note}" for note in facts["notes"]))
    if explained := two_probabilities(facts["calibrated"], len(modes)):
        say(explained)
    if nats and facts["one_hot"]:
        say(ONE_HOT)


def _first_mode(row: dict[str, Any]) -> str:
    """The weight of the first mode; of a single one, whether there is no doubt or no other was looked for."""
    if len(row["weights"]) > 1:
        return f"{100 * row['weights'][0]:.1f} %"
    return "no doubt" if row.get("without_doubt") else "one mode"


def _print_images(rows: list[dict[str, Any]], results: batching.Results, out: Path) -> None:
    from mixfield.reports.about import weight_name
    from mixfield.reports.page import number_of

    shown = [
        (
            Path(row["image"]).name,
            len(row["weights"]),
            _first_mode(row),
            f"{100 * max(mode['differs'] for mode in row['modes']):.2f} %",
            f"{row['seconds']:.2f}",
        )
        for row in rows
    ]
    name = weight_name(all(row["calibrated"] for row in rows))
    heads = ("image", "modes", f"{name} of mode 1", "largest difference", "seconds")
    earlier = f", {results.tally.reused} of them by an earlier run" if results.tally.reused else ""
    title = f"{number_of(len(rows), 'image')} segmented{earlier}, {len(results.failures)} failed; results in {out}"
    print_table(title, heads, shown)
