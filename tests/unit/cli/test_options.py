"""Options that verbs share."""

from __future__ import annotations

import os

import pytest

from mixfield import _threads
from mixfield.cli.options import check_folder, check_target, frame_slice, solver
from mixfield.errors import MixfieldError


def test_threads_hold_in_the_block_only(monkeypatch):
    monkeypatch.setenv("MIXFIELD_THREADS", "5")
    with solver(3) as how:
        assert how.threads == 3
        assert _threads.available() == 3  # filters read this
    assert os.environ["MIXFIELD_THREADS"] == "5"
    with solver(None) as how:
        assert how.threads == 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", slice(None)),
        ("3:", slice(3, None)),
        (":7", slice(None, 7)),
        ("0:400:10", slice(0, 400, 10)),
        ("::2", slice(None, None, 2)),
        ("-3:", slice(-3, None)),
    ],
)
def test_frames(text, expected):
    assert frame_slice(text) == expected


@pytest.mark.parametrize("text", ["3", "a:b", "1:2:3:4", "1.5:2"])
def test_bad_frames(text):
    with pytest.raises(MixfieldError, match=f"--frames must look like 0:400 or 0:400:10, got '{text}'"):
        frame_slice(text)


def test_targets(tmp_path):
    check_target(None)
    check_target(tmp_path / "new.npz")
    check_folder(tmp_path)
    check_folder(tmp_path / "new")
    with pytest.raises(MixfieldError, match="does not exist"):
        check_target(tmp_path / "none" / "new.npz")
    with pytest.raises(MixfieldError, match="it is a folder"):
        check_target(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(MixfieldError, match="--out is a folder"):
        check_folder(tmp_path / "file")


@pytest.mark.parametrize("check", [check_folder, lambda path: check_target(path / "new.npz")])
def test_places_that_cannot_be_written_are_refused_before_the_work(tmp_path, monkeypatch, check):
    check(tmp_path)
    assert list(tmp_path.iterdir()) == []  # the probe is removed

    def refused(self, **_):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr("pathlib.Path.touch", refused)
    with pytest.raises(MixfieldError, match=f"cannot write to {tmp_path}: Permission denied"):
        check(tmp_path)


def test_a_new_folder_is_probed_in_its_first_ancestor(tmp_path):
    check_folder(tmp_path / "a" / "b" / "c")
    assert list(tmp_path.iterdir()) == []
