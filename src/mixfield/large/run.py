"""A large image divided into blocks: solve them, then join them to one answer."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import __version__, _files, batch
from mixfield.apps.blocks import Block, block_size, blocks_of
from mixfield.errors import BatchError, MixfieldError
from mixfield.large.axes import matched
from mixfield.large.block_evidence import ScoreOptions, count_labels
from mixfield.large.block_field import FieldOptions
from mixfield.large.block_files import block_path, read_alternatives, read_labels
from mixfield.large.block_work import SegmentBlock, segment_block
from mixfield.large.geotiff import Georeference, Raster
from mixfield.large.label_files import LabelFile, check_path
from mixfield.large.label_shares import joined_shares
from mixfield.large.question_files import write_geojson, write_table
from mixfield.large.regions import LocalQuestion, joined
from mixfield.large.sources import open_source
from mixfield.large.zarr_files import ZarrArray

StrPath = str | PathLike[str]

SUMMARY = "large.json"  # in the folder of the blocks, for reports


@dataclass(frozen=True, eq=False)
class LargeSegmentation:
    """Labels of a large image.

    Attributes
    ----------
    out : file of the labels; the labels of single blocks are in the folder ``<out>.blocks``.
    shape : of the image.
    n_labels, nodata : number of labels, and the value of pixels without data.
    log_z : sum of what each block adds to the bound for the pixels of its core, see the notes of `segment_large`.
    pixels : with data.
    blocks : number of blocks.
    not_converged : names of the blocks whose mean field stopped at its iteration limit.
    questions : alternatives of regions, the most useful first.
    """

    out: Path
    shape: tuple[int, ...]
    n_labels: int
    nodata: int
    log_z: float
    pixels: int
    blocks: int
    not_converged: tuple[str, ...]
    questions: tuple[LocalQuestion, ...]

    def facts(self) -> dict[str, Any]:
        """All of it that can be written as JSON."""
        return {
            "out": str(self.out),
            "shape": list(self.shape),
            "labels": self.n_labels,
            "nodata": self.nodata,
            "log_z": self.log_z,
            "pixels": self.pixels,
            "blocks": self.blocks,
            "not_converged": list(self.not_converged),
            "questions": [one.facts() for one in self.questions],
        }


@dataclass(frozen=True, eq=False)
class LargeRun:
    """A large image divided into blocks: `outcomes` solves them, `finish` writes the answer.

    Attributes
    ----------
    work : on one block.
    size : of the blocks.
    out : file of the labels.
    """

    work: SegmentBlock
    size: tuple[int, ...]
    out: Path

    @cached_property
    def blocks(self) -> list[Block]:
        """In row-major order."""
        return blocks_of(self.work.image.shape, self.size, self.work.halo)

    @property
    def folder(self) -> Path:
        """Results of single blocks."""
        return self.out.with_name(f"{self.out.name}.blocks")

    def outcomes(self, engine: batch.Engine | None = None) -> Generator[batch.Outcome]:
        """Solve the blocks that have no result yet; yields the outcome of every block."""
        files = (*self.work.image.source.files, *self.work.scores.source.files)
        items = [batch.Item(block.name, block, files) for block in self.blocks]
        return batch.map(self._work, items, self.folder, settings=self._settings(), engine=engine)

    @property
    def _work(self) -> SegmentBlock:
        """The work on a block, with the shares of labels if the field needs them: they are read in a first pass."""
        if not self.work.field.needs_shares:
            return self.work
        return replace(self.work, shares=joined_shares(self.work.window_sums(block) for block in self.blocks))

    def finish(self) -> LargeSegmentation:
        """Join the blocks, all of which have a result, and write labels and questions."""
        facts = batch.facts(self.folder)
        missing = [block.name for block in self.blocks if block.name not in facts]
        if missing:
            raise BatchError(f"{len(missing)} of {len(self.blocks)} blocks have no result, the first is {missing[0]}")
        rows = {block.name: facts[block.name] for block in self.blocks}
        questions = self._questions(rows)
        self._write(questions)
        answer = LargeSegmentation(
            self.out,
            self.work.image.shape,
            count_labels(self.work.scores, self.work.score_options),
            self.work.nodata,
            float(sum(row["log_z"] for row in rows.values())),
            sum(row["pixels"] for row in rows.values()),
            len(rows),
            tuple(name for name, row in rows.items() if not row["converged"]),
            questions,
        )
        files = self.work.image.source.files
        summary = answer.facts() | {"out": self.out.name, "image": str(files[0]) if files else None}
        _files.write_text(self.folder / SUMMARY, json.dumps(summary) + "\n")
        return answer

    def _questions(self, rows: dict[str, Any]) -> tuple[LocalQuestion, ...]:
        asking = [name for name, row in rows.items() if row["alternatives"]]
        return joined({name: read_alternatives(block_path(self.folder, name)) for name in asking})

    def _write(self, questions: Sequence[LocalQuestion]) -> None:
        """Labels; with more than one mode also the labels of the alternatives, and the questions."""
        source, work = self.work.image.source, self.work
        place = source.place if isinstance(source, Raster) else Georeference()
        ome = self.out.name.endswith(".ome.zarr") or (isinstance(source, ZarrArray) and source.is_ome)
        file = LabelFile(work.image.shape, self.size, work.dtype, work.nodata, place, ome)
        file.write(self.out, self.blocks, lambda block: self._labels(block, questions))
        if work.field.n_modes > 1:
            file.write(
                self._beside("_alternatives", self.out.suffix), self.blocks, lambda b: self._others(b, questions)
            )
            write_table(self._beside("_questions", ".csv"), questions)
            if len(work.image.shape) == 2:
                write_geojson(self._beside("_questions", ".geojson"), questions, place)

    def _labels(self, block: Block, questions: Sequence[LocalQuestion]) -> NDArray[Any]:
        """Labels of the core of a block, with the new labels of the questions that are chosen."""
        labels = read_labels(block_path(self.folder, block.name)).copy()
        for one in questions:
            for part in one.parts if one.chosen else ():
                part.paint(labels, block.core)
        return labels

    def _others(self, block: Block, questions: Sequence[LocalQuestion]) -> NDArray[Any]:
        """Labels of the most probable alternative of each pixel, no data where there is none."""
        labels = np.full([along.stop - along.start for along in block.core], self.work.nodata, self.work.dtype)
        for one in sorted(questions, key=lambda one: one.probability):
            for part in one.parts:
                part.paint(labels, block.core)
        return labels

    def _beside(self, ending: str, suffix: str) -> Path:
        stem = self.out.name.removesuffix(self.out.suffix).removesuffix(".ome")
        return self.out.with_name(f"{stem}{ending}{suffix}")

    def _settings(self) -> dict[str, Any]:
        """Everything that the results depend on; threads and engines do not change them."""
        work, field = self.work, self.work.field
        model = None if field.model is None else asdict(replace(field.model, table=()))
        solver = None if field.solver is None else [field.solver.tolerance, field.solver.max_iterations]
        return {
            "mixfield": __version__,
            "image": work.image.source.identity,
            "scores": [work.scores.source.identity, asdict(work.score_options)],
            "field": [
                field.n_modes,
                model,
                None if field.kernels is None else asdict(field.kernels),
                field.rng,
                solver,
            ],
            "blocks": [list(work.image.shape), list(self.size), work.halo],
        }


def large_run(
    image: Any,
    scores: Any,
    out: StrPath,
    options: ScoreOptions,
    field: FieldOptions,
    *,
    block: int | Sequence[int] | None = None,
    halo: int | None = None,
) -> LargeRun:
    """Open image and scores and divide them into blocks; the parameters are those of `segment_large`."""
    pixels, labels = matched(open_source("image", image), open_source("scores", scores))
    work = segment_block(pixels, labels, options, field, halo)
    path = Path(out).absolute()
    check_path(path, len(pixels.shape))
    if path.resolve() in {file.resolve() for file in (*pixels.source.files, *labels.source.files)}:
        raise MixfieldError(f"out must be another file than image and scores, got {path}")
    return LargeRun(work, block_size(block, pixels.shape), path)
