"""Kernels chosen on annotated images, for ``mixfield segment --tune``."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mixfield.cli.options import solver
from mixfield.cli.terminal import Progress, print_table, say

if TYPE_CHECKING:
    from mixfield.apps.tuning import Tuning

NOTHING_WRITTEN = "no kernels were written; the same command begins again, and fewer images take less time"


def tune_folder(folder: Path, out: Path, *, logits: bool, threads: int | None, as_json: bool) -> None:
    """Choose kernels on a folder with images/, scores/ and truth/; write ``kernels.toml`` and print the table."""
    from mixfield.apps.tuning import TOLERANCE, tune
    from mixfield.io.folders import annotated
    from mixfield.io.kernels import write_kernels

    count, examples = annotated(folder)
    with (
        Progress("images", count, quiet=as_json, stopped=NOTHING_WRITTEN) as advance,
        solver(threads, tolerance=TOLERANCE) as how,
    ):
        tuning = tune(examples, logits=logits, solver=how, progress=advance)
    out.mkdir(parents=True, exist_ok=True)
    write_kernels(out / "kernels.toml", tuning.kernels)
    if as_json:
        typer.echo(json.dumps(asdict(tuning) | {"kernels_file": str(out / "kernels.toml")}))
        return
    _print(tuning, count)
    say(f"wrote {out / 'kernels.toml'}: use it with --kernels")


def _print(tuning: Tuning, count: int) -> None:
    order = sorted(range(len(tuning.grid)), key=lambda k: -tuning.mean_ious[k])
    rows = [
        (
            *(f"{value:g}" for value in vars(tuning.grid[k]).values()),
            f"{100 * tuning.mean_ious[k]:.2f}",
            " ".join(["chosen"] * (tuning.grid[k] == tuning.kernels) + ["default"] * (k == 0)),
        )
        for k in order
    ]
    print_table(f"mean IoU in % over {count} images", (*vars(tuning.kernels), "mean IoU", ""), rows)
    say(
        f"scores alone {100 * tuning.scores:.2f}, default kernels {100 * tuning.defaults:.2f}, "
        f"kernels chosen without the image they are used on {100 * tuning.held_out:.2f}"
    )
