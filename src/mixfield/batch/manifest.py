"""The manifest of an output folder: one line of JSON per finished or failed item, appended by one driver at a time.

The first line holds the format, its version and the settings of all results.  The last line of an item counts.  An
incomplete last line, left by a full disk or a killed driver, is ignored: its item is repeated.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mixfield import _files
from mixfield.batch.file_lock import lock
from mixfield.batch.items import Item, Outcome
from mixfield.errors import BatchError, FileFormatError, MixfieldError

NAME = "manifest.jsonl"
FORMAT = "mixfield-batch"
VERSION = 1
HEADER_START = json.dumps({"format": FORMAT})[:-1].encode()  # of the first line
RESUME = "finished results are kept: make room and run the same command again to go on"
MAX_SHOWN, MAX_DIFFERENCES = 40, 300  # characters of a setting, and of all that differ, in an error message

Record = dict[str, Any]


class Manifest:
    """An open manifest, locked until it is closed."""

    def __init__(self, folder: Path, settings: Any) -> None:
        self.folder = folder
        self._path = folder / NAME
        self._records: dict[str, Record] = {}  # the last one of each item
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = open(self._path, "a+b", buffering=0)  # noqa: SIM115 (see `close`)
        except OSError as error:
            raise BatchError(f"cannot write to {folder}: {error.strerror}") from None
        try:
            if not lock(self._file):
                raise MixfieldError(
                    f"another run is writing to {folder}; wait until it has finished, or give another folder"
                )
            self._open(json.loads(json.dumps(settings)))
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Manifest:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and release the lock."""
        self._file.close()

    def finished(self, item: Item) -> Outcome | None:
        """The result of an earlier run; None if it is missing, damaged, or made from other inputs."""
        record = self._records.get(item.name, {})
        if not _is_result(record) or record["stamp"] != item.stamp():
            return None
        files = record["files"]
        if not all(_digest_or_none(_files.inside(self.folder, name)) == digest for name, digest in files.items()):
            return None
        return Outcome(item.name, files, record.get("facts"), stamp=record["stamp"], fresh=False)

    def check_folder(self) -> None:
        """Raise a `BatchError` if the folder was deleted or replaced after the manifest was opened."""
        try:
            same = os.path.samestat(os.stat(self._path), os.fstat(self._file.fileno()))
        except (FileNotFoundError, NotADirectoryError):
            same = False
        except OSError as error:
            raise BatchError(f"cannot read {self._path}: {error.strerror}; {RESUME}") from None
        if not same:
            raise BatchError(
                f"{self.folder} was deleted or replaced during the run, and results with it; "
                "run the same command again to compute them again"
            )

    def check_results(self, items: Iterable[Item]) -> None:
        """Raise a `BatchError` if the folder or a file of a result of these items is gone."""
        self.check_folder()
        gone = [item.name for item in items if not self._has_files(item)]
        if gone:
            raise BatchError(
                f"results in {self.folder} were deleted during the run, {len(gone)} in all, the first of {gone[0]!r}; "
                "run the same command again to compute them again"
            )

    def _has_files(self, item: Item) -> bool:
        return all((self.folder / name).exists() for name in self._records.get(item.name, {}).get("files", {}))

    def add(self, outcome: Outcome) -> None:
        """Append an outcome; files of the previous result of this item that the new one lacks are removed."""
        self.check_folder()
        previous = self._records.get(outcome.name, {}).get("files", {})
        if outcome.failure is None:
            record = {"item": outcome.name, "stamp": outcome.stamp, "files": outcome.files, "facts": outcome.facts}
        else:
            record = {"item": outcome.name, "failure": outcome.failure, "trace": outcome.trace}
        self._append(record)
        self._records[outcome.name] = record
        for name in set(previous) - set(outcome.files):
            _files.inside(self.folder, name).unlink(missing_ok=True)

    def _open(self, settings: Any) -> None:
        """Index an existing manifest, or write the first line of a new one."""
        content = self._complete_lines()
        earlier = _settings(content[: content.index(b"\n") + 1], self._path) if content else settings
        if self._index(content) and earlier != settings:
            raise MixfieldError(
                f"{self.folder} holds results of other settings ({_differences(earlier, settings)}); "
                "give another folder, or empty it"
            )
        self._file.truncate(len(content))
        if not content or earlier != settings:
            self._records.clear()
            self._file.truncate(0)
            self._append({"format": FORMAT, "version": VERSION, "settings": settings})

    def _complete_lines(self) -> bytes:
        """The content up to the last line break; raises a `FileFormatError` for a file that is not a manifest."""
        if not self._path.is_file():
            raise _not_a_manifest(self._path)
        self._file.seek(0)
        start = self._file.read(len(HEADER_START))
        if not HEADER_START.startswith(start):  # the first line may be incomplete
            raise _not_a_manifest(self._path)
        content = start + self._file.read()
        return content[: content.rfind(b"\n") + 1]

    def _index(self, content: bytes) -> int:
        """Store the last record of each item; returns the number of lines with results."""
        n_results = 0
        for line in content.split(b"\n")[1:]:
            record = _parsed(line)
            if isinstance(record.get("item"), str):
                self._check_paths(record)
                self._records[record["item"]] = record
                n_results += "files" in record
        return n_results

    def _check_paths(self, record: Record) -> None:
        try:
            for name in record.get("files", {}):
                _files.inside(self.folder, name)
        except MixfieldError as error:
            raise FileFormatError(f"{self._path} is not to be trusted: {error}") from None

    def _append(self, record: Record) -> None:
        line = json.dumps(record).encode() + b"\n"
        offset = self._file.seek(0, os.SEEK_END)
        try:
            if self._file.write(line) != len(line):
                raise OSError(None, "the disk is full")
        except OSError as error:
            self._file.truncate(offset)
            raise BatchError(f"cannot write to {self._path}: {error.strerror}; {RESUME}") from None


def facts(out: Path) -> dict[str, Any]:
    """The facts of all results in an output folder, by item name.

    Takes no lock, so that it can be called during a run; files of the results are not verified.  Empty for a folder
    without a manifest.
    """
    path = Path(out) / NAME
    results: dict[str, Any] = {}
    if path.exists() and not path.is_file():  # a pipe would wait for a writer
        raise _not_a_manifest(path)
    try:
        with open(path, "rb") as file:
            _settings(file.readline(), path)
            for line in file:
                record = _parsed(line)
                if isinstance(record.get("item"), str):
                    results.pop(record["item"], None)
                    if _is_result(record):
                        results[record["item"]] = record.get("facts")
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BatchError(f"cannot read {path}: {error.strerror}") from None
    return results


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest_or_none(path: Path) -> str | None:
    try:
        return digest(path)
    except OSError:
        return None


def _settings(line: bytes, path: Path) -> Any:
    """The settings in the first line of a manifest; raises `FileFormatError` for other files and versions."""
    header = _parsed(line)
    if header.get("format") != FORMAT:
        raise _not_a_manifest(path)
    if header.get("version") != VERSION:
        raise FileFormatError(
            f"{path} has format version {header.get('version')}, this mixfield reads version {VERSION}; "
            "install the mixfield that wrote it, or give another folder"
        )
    return header.get("settings")


def _not_a_manifest(path: Path) -> FileFormatError:
    return FileFormatError(f"{path} is not a manifest of mixfield; give another folder, or move it away")


def _differences(earlier: Any, now: Any) -> str:
    """The settings that differ, by name, with both values."""
    differing = (f"{name or 'settings'}: {was}, now {is_now}" for name, was, is_now in _differing(earlier, now))
    return _shortened("; ".join(differing), MAX_DIFFERENCES)


def _differing(earlier: Any, now: Any, name: str = "") -> Iterator[tuple[str, str, str]]:
    """Dotted name and both values of each setting that differs; what is in tables is compared if both have them."""
    if isinstance(earlier, dict) and isinstance(now, dict):
        prefix = f"{name}." if name else ""
        for key in earlier | now:
            yield from _differing(earlier.get(key), now.get(key), prefix + json.dumps(key)[1:-1])
    elif earlier != now:
        yield name, _value(earlier), _value(now)


def _value(setting: Any) -> str:
    """A setting in a few words: settings that are not given are null, or absent."""
    if setting is None or isinstance(setting, dict):
        return "the default" if setting is None else "another one"
    return _shortened(json.dumps(setting), MAX_SHOWN)


def _shortened(text: str, most: int) -> str:
    """A text of at most ``most`` characters: settings of a damaged file can be long."""
    return text if len(text) <= most else f"{text[:most]}..."


def _parsed(line: bytes) -> Record:
    """The record in a line; empty if the line is not valid."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(record, dict):
        return {}
    return record if _is_result(record) or "files" not in record else {}


def _is_result(record: Record) -> bool:
    files = record.get("files")
    return isinstance(files, dict) and all(isinstance(v, str) for v in files.values()) and "stamp" in record
