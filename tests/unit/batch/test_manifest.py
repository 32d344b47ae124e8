"""The manifest: facts, settings, incomplete lines, the lock."""

from __future__ import annotations

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


def test_settings(tmp_path):
    with pytest.raises(StopIteration):
        next(batch.map(text_file, [], tmp_path, settings={"modes": 1}))
    list(batch.map(failing_above_one, items(4)[2:], tmp_path, settings={"modes": 2}))  # the first had no results
    list(batch.map(failing_above_one, items(1), tmp_path, settings={"modes": 3}))  # nor had these
    with pytest.raises(MixfieldError, match="other settings"):
        list(batch.map(failing_above_one, items(1), tmp_path, settings={"modes": 2}))


def test_results_of_equal_settings_are_kept(tmp_path):
    for fresh in (True, False):
        done = batch.map(text_file, items(2), tmp_path, settings={"modes": 1, "names": ["a", "b"]})
        assert [outcome.fresh for outcome in done] == [fresh, fresh]


def test_an_incomplete_line_is_ignored(tmp_path):
    list(batch.map(text_file, items(2), tmp_path))
    path = tmp_path / "manifest.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    assert [o.fresh for o in batch.map(text_file, items(2), tmp_path)] == [False, True]
    path.write_bytes(b"")
    assert [o.fresh for o in batch.map(text_file, items(2), tmp_path)] == [True, True]


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


@pytest.mark.parametrize("length", [0, 10, (1 << 16) - 1, 1 << 16, (1 << 16) + 1, 3 << 16])
def test_lines_of_any_length_end_at_their_newline(tmp_path, length):
    path = tmp_path / "lines"
    path.write_bytes(b"a" * length + b"\nsecond\n")
    with path.open("rb", buffering=0) as file:
        assert manifest._read_line(file) == b"a" * length + b"\n"
