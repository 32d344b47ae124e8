"""The manifest: facts, settings, incomplete lines, the lock."""

from __future__ import annotations

import os
import shutil

import pytest

from mixfield import batch
from mixfield.batch import manifest
from mixfield.batch.manifest import Manifest
from mixfield.errors import BatchError, MixfieldError


def number_only(number, _folder):
    return {"number": number}


def text_file(number, folder):
    (folder / f"{number}.txt").write_text(str(number))


def failing_above_one(number, folder):
    if number > 1:
        raise MixfieldError("too large")
    text_file(number, folder)


def items(count):
    return [batch.Item(f"n{k}", k) for k in range(count)]


def test_facts_without_files(tmp_path):
    """Numbers only: stored in the manifest, read back from it, and extended later."""
    out = tmp_path / "o"
    assert batch.facts(out) == {}
    for count, fresh in ((3, [True] * 3), (5, [False] * 3 + [True] * 2)):
        assert [outcome.fresh for outcome in batch.map(number_only, items(count), out)] == fresh
        assert batch.facts(out) == {f"n{k}": {"number": k} for k in range(count)}
    assert {path.name for path in out.iterdir()} == {"manifest.jsonl"}
    with (out / "manifest.jsonl").open("a") as file:
        file.write('{"item": "n1", "failure": "now it fails", "trace": null}\n{"item": "n2", "fil')
    assert list(batch.facts(out)) == ["n0", "n2", "n3", "n4"]
    (out / "manifest.jsonl").write_text('{"format": "other"}\n')
    with pytest.raises(MixfieldError, match="not a manifest"):
        batch.facts(out)


def test_long_settings_are_shortened(tmp_path):
    list(batch.map(failing_above_one, items(1), tmp_path, settings={"m" * 5000: 3}))
    with pytest.raises(MixfieldError, match="of other settings") as refused:
        list(batch.map(failing_above_one, items(1), tmp_path, settings={"modes": 2}))
    assert len(str(refused.value)) < 800


def test_settings(tmp_path):
    with pytest.raises(StopIteration):
        next(batch.map(text_file, [], tmp_path, settings={"modes": 1}))
    list(batch.map(failing_above_one, items(4)[2:], tmp_path, settings={"modes": 2}))  # the first had no results
    list(batch.map(failing_above_one, items(1), tmp_path, settings={"modes": 3}))  # nor had these
    with pytest.raises(
        MixfieldError, match=r"holds results of other settings \(modes: 3, now 2\); give another folder"
    ):
        list(batch.map(failing_above_one, items(1), tmp_path, settings={"modes": 2}))
    assert [o.fresh for o in batch.map(failing_above_one, items(1), tmp_path, settings={"modes": 3})] == [False]


@pytest.mark.parametrize(
    ("earlier", "now", "shown"),
    [
        ({"a": 1, "b": {"c": 2.5, "d": "x"}}, {"a": 1, "b": {"c": 2, "d": "x"}}, r"\(b.c: 2.5, now 2\)"),
        ({"a": 1}, {"a": None, "e": True}, r"\(a: 1, now the default; e: the default, now true\)"),
        ({"a": {}}, {"a": {"b": 1}}, r"\(a.b: the default, now 1\)"),
        ({"model": {"b": 0.6, "c": {"d": 3.0}}}, {"model": None}, r"\(model: another one, now the default\)"),
        (None, {"a": 1}, r"\(settings: the default, now another one\)"),
        ({"\x1b[31m": "y" * 99}, {}, r'\(\\u001b\[31m: "y{39}\.\.\., now the default\)'),
    ],
)
def test_settings_that_differ_are_named(tmp_path, earlier, now, shown):
    list(batch.map(text_file, items(1), tmp_path, settings=earlier))
    with pytest.raises(MixfieldError, match=shown):
        Manifest(tmp_path, now)


def test_results_of_equal_settings_are_kept(tmp_path):
    for fresh in (True, False):
        done = batch.map(text_file, items(2), tmp_path, settings={"modes": 1, "names": ["a", "b"]})
        assert [outcome.fresh for outcome in done] == [fresh, fresh]


def test_an_incomplete_line_is_ignored(tmp_path):
    list(batch.map(text_file, items(2), tmp_path))
    path = tmp_path / "manifest.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert [o.fresh for o in batch.map(text_file, items(2), tmp_path)] == [False, True]
    assert path.read_bytes() == whole
    path.write_bytes(b"")
    assert [o.fresh for o in batch.map(text_file, items(2), tmp_path)] == [True, True]


@pytest.mark.parametrize(
    "content",
    [
        b"0123",
        b'{"format": "other"}',
        b'{"image": "a.png"}\n{"image": "b.png"}\n{"imag',
        b'\n{"format": "mixfield-batch", "version": 1, "settings": null}\n',
        b"\0" * 200,
    ],
)
def test_a_file_of_others_is_refused_and_kept(tmp_path, content):
    path = tmp_path / "manifest.jsonl"
    path.write_bytes(content)
    with pytest.raises(MixfieldError, match=r"manifest\.jsonl is not a manifest of mixfield; give another folder"):
        list(batch.map(text_file, items(1), tmp_path))
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_a_version_of_the_future_is_kept_too(tmp_path):
    content = b'{"format": "mixfield-batch", "version": 999, "settings": null}\n{"item": "a", "incomp'
    (tmp_path / "manifest.jsonl").write_bytes(content)
    with pytest.raises(MixfieldError, match="format version 999"):
        Manifest(tmp_path, None)
    assert (tmp_path / "manifest.jsonl").read_bytes() == content


@pytest.mark.parametrize("length", [1, 10, 26, 27, 40])
def test_an_incomplete_first_line_is_written_again(tmp_path, length):
    list(batch.map(text_file, items(1), tmp_path))
    path = tmp_path / "manifest.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:length])
    list(batch.map(text_file, items(1), tmp_path))
    assert path.read_bytes() == whole


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are for POSIX systems")
def test_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "manifest.jsonl")
    for read in (batch.facts, lambda out: Manifest(out, None)):
        with pytest.raises(MixfieldError, match="not a manifest"):
            read(tmp_path)


@pytest.mark.parametrize("replaced", [False, True])
def test_a_deleted_folder(tmp_path, replaced):
    out = tmp_path / "o"
    with Manifest(out, None) as manifest:
        manifest.add(batch.Outcome("a"))
        shutil.rmtree(out)
        if replaced:
            Manifest(out, None).close()
        for check in (manifest.check_folder, lambda: manifest.add(batch.Outcome("b"))):
            with pytest.raises(BatchError, match="o was deleted or replaced during the run, and results with it"):
                check()
    if replaced:
        assert batch.facts(out) == {}


def test_results_that_were_deleted(tmp_path):
    with Manifest(tmp_path, None) as manifest:
        for name in "abc":
            (tmp_path / name).write_text(name)
            manifest.add(batch.Outcome(name, {name: "0"}))
        todo = [batch.Item(name, None) for name in "abcd"]
        manifest.check_results(todo)
        (tmp_path / "b").unlink()
        (tmp_path / "c").unlink()
        with pytest.raises(BatchError, match="were deleted during the run, 2 in all, the first of 'b'; run the same"):
            manifest.check_results(todo)
        shutil.rmtree(tmp_path)
        with pytest.raises(BatchError, match="was deleted or replaced"):
            manifest.check_results([])


def test_files_of_the_previous_result_are_removed(tmp_path):
    with Manifest(tmp_path, None) as first:
        for name in ("old.txt", "both.txt"):
            (tmp_path / name).write_text(name)
        first.add(batch.Outcome("a", {"old.txt": "0", "both.txt": "1"}))
        first.add(batch.Outcome("a", {"both.txt": "1"}))
    assert {path.name for path in tmp_path.iterdir()} == {"manifest.jsonl", "both.txt"}


def test_a_locked_manifest_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(manifest, "lock", lambda _file: False)
    with pytest.raises(MixfieldError, match="another run is writing"):
        Manifest(tmp_path, None)


def test_an_output_folder_that_is_a_file(tmp_path):
    (tmp_path / "o").write_text("")
    with pytest.raises(BatchError, match="cannot write to"):
        Manifest(tmp_path / "o", None)
