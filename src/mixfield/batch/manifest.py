"""The manifest of a folder of results: one line of JSON per finished or failed item, appended by one driver at a time.

The first line says what the file is, its version, and the settings all results share.  The last line about an item
counts.  A line that was cut off, by a full disk or a killed driver, is no line: its item is done again.
"""

from __future__ import annotations

import hashlib
import json
import os
from io import FileIO
from pathlib import Path
from typing import Any

from mixfield import _files
from mixfield.batch.items import Item, Outcome
from mixfield.errors import BatchError, FileFormatError, MixfieldError

NAME = "manifest.jsonl"
FORMAT = "mixfield-batch"
VERSION = 1


class Manifest:
    """An open manifest, locked until it is closed."""

    def __init__(self, folder: Path, settings: Any) -> None:
        self.folder = folder
        self._path = folder / NAME
        self._places: dict[str, int] = {}  # where the last line about an item begins
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = open(self._path, "a+b", buffering=0)  # noqa: SIM115 (see `close`)
        except OSError as error:
            raise BatchError(f"cannot write to {folder}: {error.strerror}") from None
        try:
            _lock(self._file, folder)
            self._begin(json.loads(json.dumps(settings)))
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Manifest:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the folder free."""
        self._file.close()

    def finished(self, item: Item) -> Outcome | None:
        """The result of an earlier run, if it is there, undamaged, and made from the inputs as they are now."""
        record = self._record(item.name)
        if not _is_result(record) or record["stamp"] != item.stamp():
            return None
        files = record["files"]
        if not all(_digest_or_none(_files.inside(self.folder, name)) == digest for name, digest in files.items()):
            return None
        return Outcome(item.name, files, record.get("facts"), stamp=record["stamp"], fresh=False)

    def add(self, outcome: Outcome) -> None:
        """Record an outcome; files of an earlier result that the new one does not have are removed."""
        before = self._record(outcome.name).get("files", {})
        if outcome.failure is None:
            record = {"item": outcome.name, "stamp": outcome.stamp, "files": outcome.files, "facts": outcome.facts}
        else:
            record = {"item": outcome.name, "failure": outcome.failure, "trace": outcome.trace}
        self._append(record)
        for name in set(before) - set(outcome.files):
            _files.inside(self.folder, name).unlink(missing_ok=True)

    def _begin(self, settings: Any) -> None:
        """Read an earlier manifest, or write the first line of a new one."""
        content = self._file.read() if self._file.seek(0) == 0 else b""
        whole = content.rfind(b"\n") + 1
        self._file.truncate(whole)
        if whole == 0:
            self._append({"format": FORMAT, "version": VERSION, "settings": settings})
            return
        place = content.index(b"\n") + 1
        same = _settings(content[:place], self._path) == settings
        finished = 0
        while place < whole:
            end = content.index(b"\n", place) + 1
            record = _parsed(content[place:end])
            if isinstance(record.get("item"), str):
                self._check_paths(record)
                self._places[record["item"]] = place
                finished += "files" in record
            place = end
        if not same and finished:
            raise MixfieldError(f"{self.folder} holds results of other settings; give another folder, or empty it")
        if not same:  # nothing came of them
            self._places.clear()
            self._file.truncate(0)
            self._append({"format": FORMAT, "version": VERSION, "settings": settings})

    def _check_paths(self, record: dict[str, Any]) -> None:
        try:
            for name in record.get("files", {}):
                _files.inside(self.folder, name)
        except MixfieldError as error:
            raise FileFormatError(f"{self._path} is not to be trusted: {error}") from None

    def _record(self, name: str) -> dict[str, Any]:
        if name not in self._places:
            return {}
        self._file.seek(self._places[name])
        return _parsed(_line(self._file))

    def _append(self, record: dict[str, Any]) -> None:
        line = json.dumps(record).encode() + b"\n"
        place = self._file.seek(0, os.SEEK_END)
        try:
            if self._file.write(line) != len(line):
                raise OSError(None, "the disk is full")
        except OSError as error:
            self._file.truncate(place)
            raise BatchError(f"cannot write to {self._path}: {error.strerror}; {GO_ON}") from None
        if "item" in record:
            self._places[record["item"]] = place


GO_ON = "finished results are kept: make room and run the same command again to go on"


def facts(out: Path) -> dict[str, Any]:
    """What the work returned, by the names of the items in a folder that have a result.

    For pages and tables made later, or while a run is writing: nothing is locked, done or changed, and files that
    belong to the results are not checked.  A folder without a manifest has none.
    """
    path = Path(out) / NAME
    found: dict[str, Any] = {}
    try:
        with open(path, "rb") as file:
            _settings(file.readline(), path)
            for line in file:
                record = _parsed(line)
                if isinstance(record.get("item"), str):
                    found.pop(record["item"], None)
                    if _is_result(record):
                        found[record["item"]] = record.get("facts")
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BatchError(f"cannot read {path}: {error.strerror}") from None
    return found


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest_or_none(path: Path) -> str | None:
    try:
        return digest(path)
    except OSError:
        return None


def _line(file: FileIO) -> bytes:
    """The line that begins here, of a file without a buffer."""
    parts = []
    while part := file.read(1 << 16):
        end = part.find(b"\n")
        parts.append(part if end < 0 else part[: end + 1])
        if end >= 0:
            break
    return b"".join(parts)


def _settings(line: bytes, path: Path) -> Any:
    """The settings in the first line of a manifest that can be read."""
    header = _parsed(line)
    if header.get("format") != FORMAT:
        raise FileFormatError(f"{path} is not a manifest of mixfield; give another folder, or move it away")
    if header.get("version") != VERSION:
        raise FileFormatError(
            f"{path} has format version {header.get('version')}, this mixfield reads version {VERSION}; "
            "install the mixfield that wrote it, or give another folder"
        )
    return header.get("settings")


def _parsed(line: bytes) -> dict[str, Any]:
    """What a line says; nothing if it makes no sense."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(record, dict):
        return {}
    return record if _is_result(record) or "files" not in record else {}


def _is_result(record: dict[str, Any]) -> bool:
    files = record.get("files")
    return isinstance(files, dict) and all(isinstance(v, str) for v in files.values()) and "stamp" in record


def _lock(file: FileIO, folder: Path) -> None:
    """Let no second driver write here; the lock goes when the process does, however it ends."""
    try:
        import fcntl
    except ImportError:  # not on this system: nothing is checked
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise MixfieldError(
            f"another run is writing to {folder}; wait until it has finished, or give another folder"
        ) from None
    except OSError:  # a file system without locks
        return
