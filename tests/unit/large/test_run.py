"""A run: blocks joined to labels, settings that are refused, questions that are chosen in all blocks."""

from __future__ import annotations

import numpy as np
import pytest
from large_images import SMALL, several_blocks
from local_questions import SHAPE, box, parts_of

from mixfield.errors import BatchError, MixfieldError
from mixfield.large.block_evidence import ScoreOptions
from mixfield.large.block_field import BlockResult, FieldOptions
from mixfield.large.block_files import write_block
from mixfield.large.run import large_run
from mixfield.large.sources import open_source


def prepared(path, shape=(80, 112), n_modes=1, **options):
    image, scores = several_blocks(shape)
    field = FieldOptions(n_modes, kernels=SMALL)
    return large_run(image, scores, path, ScoreOptions(), field, **({"block": 32} | options))


def test_finish_needs_all_blocks(tmp_path):
    run = prepared(tmp_path / "a.npy")
    outcomes = run.outcomes()
    next(outcomes)
    outcomes.close()
    with pytest.raises(BatchError, match="11 of 12 blocks have no result"):
        run.finish()


def test_other_settings_are_refused(tmp_path):
    list(prepared(tmp_path / "a.npy", (32, 32)).outcomes())
    for options in ({"block": 16}, {"halo": 5}, {"shape": (32, 48)}, {"n_modes": 2}):
        with pytest.raises(MixfieldError, match="other settings"):
            list(prepared(tmp_path / "a.npy", **({"shape": (32, 32)} | options)).outcomes())


def test_finished_blocks_are_not_repeated(tmp_path):
    list(prepared(tmp_path / "a.npy").outcomes())
    again = list(prepared(tmp_path / "a.npy").outcomes())
    assert not any(outcome.fresh for outcome in again)


def test_a_chosen_question_is_painted_in_all_its_blocks(tmp_path):
    run = prepared(tmp_path / "a.npy", SHAPE, 2)
    list(run.outcomes())
    region = box(slice(5, 20), slice(20, 80))
    found = parts_of(region, new=2, probability=0.9)
    facts = {}
    for block in run.blocks:
        labels = np.zeros((32, 32), np.uint8)
        write_block(
            run.folder / "blocks" / f"{block.name}.npz", BlockResult(labels, 0.0, tuple(found[block.name]), True)
        )
        facts[block.name] = {"alternatives": 1}
    (question,) = run._questions(facts)
    assert question.chosen
    run._write([question])
    np.testing.assert_array_equal(np.load(run.out), np.where(region, 2, 0))
    others = np.load(tmp_path / "a_alternatives.npy")
    np.testing.assert_array_equal(others, np.where(region, 2, 255))
    assert (tmp_path / "a_questions.csv").exists()


def test_volumes(tmp_path):
    image, scores = several_blocks((20, 24, 40), 2)
    field = FieldOptions(kernels=SMALL)
    run = large_run(image, scores, tmp_path / "v.zarr", ScoreOptions(), field, block=32, halo=16)
    list(run.outcomes())
    answer = run.finish()
    assert answer.shape == (20, 24, 40)
    labels = open_source("labels", answer.out)
    assert labels.read(tuple(slice(0, length) for length in labels.shape)).max() == 1
