"""`batch.map` without faults: outcomes, results of earlier runs, names."""

from __future__ import annotations

import shutil

import pytest

from mixfield import batch
from mixfield.errors import BatchError, MixfieldError


def square(number, folder):
    if number == 2:
        raise MixfieldError("two is not a number")
    if number == 3:
        raise KeyError("three")
    (folder / "squares").mkdir()
    (folder / "squares" / f"{number}.txt").write_text(str(number**2))
    return {"square": number**2}


def items(count):
    return [batch.Item(f"n{k}", k) for k in range(count)]


def test_outcomes(tmp_path):
    found = {outcome.name: outcome for outcome in batch.map(square, items(5), tmp_path / "o")}
    assert [name for name, o in found.items() if o.failure is None] == ["n0", "n1", "n4"]
    assert found["n2"].failure == "two is not a number"
    assert found["n2"].trace is None
    assert found["n3"].failure == "unexpected KeyError: 'three'"
    assert "in square" in found["n3"].trace
    assert found["n4"].facts == {"square": 16}
    assert list(found["n4"].files) == ["squares/4.txt"]
    again = list(batch.map(square, items(6), tmp_path / "o"))
    assert [(o.name, o.fresh) for o in again][:3] == [("n0", False), ("n1", False), ("n4", False)]
    assert [o.name for o in again if o.fresh] == ["n2", "n3", "n5"]  # failed ones are tried again
    assert again[2].facts == {"square": 16}


def test_names_are_different(tmp_path):
    with pytest.raises(MixfieldError, match="'n0' comes 2 times"):
        list(batch.map(square, items(2) + items(1), tmp_path))


class Stopping:
    """An engine whose second outcome is fatal; it records that its generator was closed."""

    closed = False

    def run(self, _work, _items, out):
        try:
            assert (out / ".drafts").is_dir()
            yield batch.Outcome("n0")
            yield batch.Outcome("n1", failure="cannot write", fatal=True)
        finally:
            self.closed = (out / ".drafts").is_dir()


def test_a_fatal_outcome_ends_the_run(tmp_path):
    engine, seen = Stopping(), []
    with pytest.raises(BatchError, match="n1: cannot write"):
        seen.extend(batch.map(square, items(3), tmp_path, engine=engine))
    assert engine.closed  # before the drafts were removed
    assert not (tmp_path / ".drafts").exists()
    assert list(batch.facts(tmp_path)) == ["n0"]


def test_drafts_of_a_killed_run_are_removed(tmp_path):
    """Also if it was killed after its last result was recorded."""
    list(batch.map(square, items(2), tmp_path))
    (tmp_path / ".drafts" / "0123").mkdir(parents=True)
    (tmp_path / ".drafts" / "0123" / "half.txt").write_text("half")
    assert [outcome.fresh for outcome in batch.map(square, items(2), tmp_path)] == [False, False]
    assert not (tmp_path / ".drafts").exists()


def delete_folder(number, folder):
    """Item 2 deletes the output folder, and creates its own folder there again."""
    if number == 2:
        shutil.rmtree(folder.parents[1])
    (folder / "numbers").mkdir(parents=True)
    (folder / "numbers" / str(number)).write_text(str(number))


def delete_and_fail(number, folder):
    delete_folder(number, folder)
    if number == 2:
        raise MixfieldError("no result")


@pytest.mark.parametrize("work", [delete_folder, delete_and_fail])
@pytest.mark.parametrize("count", [3, 6])
def test_a_deleted_output_folder(tmp_path, count, work):
    """Also if the last item had deleted it."""
    out, seen = tmp_path / "o", []
    with pytest.raises(BatchError, match="o was deleted or replaced during the run, and results with it"):
        seen.extend(batch.map(work, items(count), out))
    assert list(out.iterdir()) == []  # what the work had created again is removed
    batch_again = list(batch.map(square, items(2), out))
    assert [outcome.fresh for outcome in batch_again] == [True, True]


def test_results_that_were_deleted_during_the_run(tmp_path):
    outcomes = batch.map(square, items(2), tmp_path)
    next(outcomes)
    (tmp_path / "squares" / "0.txt").unlink()
    next(outcomes)
    with pytest.raises(BatchError, match=r"results in .* were deleted during the run, 1 in all, the first of 'n0'"):
        next(outcomes)
    assert [(o.name, o.fresh) for o in batch.map(square, items(2), tmp_path)] == [("n1", False), ("n0", True)]


def test_reused_results_that_were_deleted_during_the_run(tmp_path):
    list(batch.map(square, items(2), tmp_path))
    outcomes = batch.map(square, [*items(2), batch.Item("n4", 4)], tmp_path)
    next(outcomes)
    (tmp_path / "squares" / "0.txt").unlink()
    with pytest.raises(BatchError, match="the first of 'n0'"):
        list(outcomes)
