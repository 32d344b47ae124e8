"""One item: files are moved, exceptions become failures, drafts are removed."""

from __future__ import annotations

import errno
import hashlib
import shutil

import pytest

from mixfield.batch import Item
from mixfield.batch.perform import DRAFTS, perform
from mixfield.errors import MixfieldError


@pytest.fixture
def out(tmp_path):
    (tmp_path / DRAFTS).mkdir()
    return tmp_path


def raising(error):
    def work(_argument, folder):
        (folder / "half.txt").write_text("half")
        raise error

    return work


def test_files_are_moved_with_their_checksums(out):
    def work(argument, folder):
        (folder / "a" / "b").mkdir(parents=True)
        (folder / "a" / "b" / "c.txt").write_text(argument)
        return {"length": len(argument)}

    outcome = perform(work, Item("i", "text"), out)
    assert outcome.files == {"a/b/c.txt": hashlib.sha256(b"text").hexdigest()}
    assert (out / "a" / "b" / "c.txt").read_text() == "text"
    assert (outcome.facts, outcome.failure, outcome.fresh) == ({"length": 4}, None, True)
    assert perform(work, Item("j", "other"), out).failure is None  # the folders of the first are gone


@pytest.mark.parametrize(
    ("error", "failure", "fatal"),
    [
        (MixfieldError("bad input"), "bad input", False),
        (FileNotFoundError(2, "No such file or directory", "x.png"), "x.png: no such file or directory", False),
        (MemoryError(), "there is not enough memory", False),
        (OSError(errno.ENOSPC, "No space left on device"), "cannot write to {out}: No space left on device", True),
        (OSError(errno.EROFS, "Read-only file system"), "cannot write to {out}: Read-only file system", True),
        (OSError("no number"), "no number", False),
    ],
)
def test_failures(out, error, failure, fatal):
    outcome = perform(raising(error), Item("i", 0), out)
    assert outcome.failure.startswith(failure.format(out=out))
    assert (outcome.fatal, outcome.trace) == (fatal, None)
    assert not list(out.rglob("half.txt"))


def test_unexpected_errors_have_a_trace(out):
    outcome = perform(raising(KeyError("x")), Item("i", 0), out)
    assert outcome.failure == "unexpected KeyError: 'x'"
    assert "in work" in outcome.trace


def test_a_system_without_quotas(out, monkeypatch):
    """Not every system has every error number."""
    monkeypatch.delattr(errno, "EDQUOT", raising=False)
    monkeypatch.setattr(errno, "errorcode", {errno.ENOSPC: "ENOSPC"})
    assert perform(raising(OSError(errno.ENOSPC, "full")), Item("i", 0), out).fatal
    assert not perform(raising(OSError(122, "quota")), Item("i", 0), out).fatal


def test_facts_must_be_json(out):
    outcome = perform(lambda *_: {"a": object()}, Item("i", 0), out)
    assert outcome.failure.startswith("unexpected TypeError")


def test_a_missing_output_folder_is_fatal(tmp_path):
    outcome = perform(raising(ValueError()), Item("i", 0), tmp_path / "gone")
    assert outcome.fatal
    assert "every worker must see this folder" in outcome.failure


def end_of_run(argument, folder):
    """The run ends while a worker is at work, which creates its folder again."""
    shutil.rmtree(folder.parent)
    (folder / "results").mkdir(parents=True)
    (folder / "results" / "r.txt").write_text("late")
    if argument == "fails":
        raise ValueError("no result")


@pytest.mark.parametrize("argument", ["writes", "fails"])
def test_a_run_that_ended_gets_no_results(out, argument):
    outcome = perform(end_of_run, Item("i", argument), out)
    assert outcome.fatal
    assert outcome.failure.startswith(f"the drafts in {out} were deleted during the run; finished results are kept")
    assert list(out.iterdir()) == []


def test_the_drafts_of_a_later_run_are_kept(out):
    def work(_argument, folder):
        end_of_run("writes", folder)
        (out / DRAFTS / "other").mkdir()

    assert perform(work, Item("i", 0), out).fatal
    assert [path.relative_to(out).as_posix() for path in out.rglob("*")] == [DRAFTS, f"{DRAFTS}/other"]


@pytest.mark.parametrize("name", ["manifest.jsonl", "Manifest.jsonl", ".drafts", "manifest.jsonl/x"])
def test_names_of_the_batch_are_reserved(out, name):
    def work(_argument, folder):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("mine")

    outcome = perform(work, Item("i", 0), out)
    assert outcome.failure == f"results cannot be called {name.partition('/')[0]}: the batch has a file of this name"
    assert not outcome.fatal
    assert {path.name for path in out.iterdir()} == {DRAFTS}
