"""One item: files are moved, exceptions become failures, drafts are removed."""

from __future__ import annotations

import errno
import hashlib

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
