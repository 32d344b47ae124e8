"""``mixfield segment big.tif --scores scores.zarr --out labels.tif``: an image that does not fit in memory."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mixfield.cli import batching
from mixfield.cli.terminal import command, print_table, say

if TYPE_CHECKING:
    from mixfield.batch import Engine
    from mixfield.cli.segment_images import SegmentImage
    from mixfield.large.run import LargeSegmentation

SUFFIXES = (".tif", ".tiff", ".zarr", ".npy")  # of --out: a file instead of a folder
SHOWN = 10  # questions in the table


def is_large(out: Path) -> bool:
    """Whether labels are to be written to a file, block by block."""
    return out.suffix.lower() in SUFFIXES


def segment_large_image(
    work: SegmentImage,
    image: Path,
    scores: Path,
    out: Path,
    *,
    block: int | None,
    halo: int | None,
    engine: Engine,
    as_json: bool,
) -> None:
    """Segment an image block by block; a stopped run goes on where it was."""
    from mixfield import _threads
    from mixfield.batch.threads import thread_limit
    from mixfield.large.block_evidence import ScoreOptions
    from mixfield.large.block_field import FieldOptions
    from mixfield.large.run import large_run

    started = time.perf_counter()
    field = FieldOptions.of(work.modes, work.field.get("model"), work.field.get("kernels"), work.seed, None)
    run = large_run(image, scores, out, ScoreOptions(**work.evidence), field, block=block, halo=halo)
    with thread_limit(work.threads or _threads.available()):
        outcomes = run.outcomes(engine)
        results = batching.follow(outcomes, "blocks", len(run.blocks), quiet=as_json)
    results.conclude(quiet=as_json)
    answer = run.finish()
    facts = (
        {"image": str(image)}
        | answer.facts()
        | {"seconds": time.perf_counter() - started, "reused": results.tally.reused}
    )
    if as_json:
        typer.echo(json.dumps(facts))
    else:
        _print(answer, facts)


def _print(answer: LargeSegmentation, facts: dict[str, Any]) -> None:
    from mixfield.reports.page import number_of

    size = " x ".join(str(length) for length in reversed(answer.shape))
    earlier = f", {facts['reused']} of them by an earlier run" if facts["reused"] else ""
    say(f"{size} pixels in {number_of(answer.blocks, 'block')}{earlier}, {facts['seconds']:.1f} s")
    shown = [
        (f"{k}", f"label {one.old} or {one.new}?", f"{100 * one.probability:.0f} %", one.pixels, len(one.blocks))
        for k, one in enumerate(answer.questions[:SHOWN], 1)
    ]
    if shown:
        heads = ("", "question", "probability of the second", "pixels", "blocks")
        print_table(
            f"the first {len(shown)} of {number_of(len(answer.questions), 'question')}",
            heads,
            shown,
            texts=("question",),
        )
    if answer.not_converged:
        say(f"note: {number_of(len(answer.not_converged), 'block')} stopped at the iteration limit")
    say(f"wrote {answer.out}")
    say(f"next: {command('mixfield', 'report', answer.out.with_name(answer.out.name + '.blocks'))}")
