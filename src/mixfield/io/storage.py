"""Numbers and matrices of files that OpenCV's FileStorage wrote: YAML, XML or JSON.

They are parsed here and not by OpenCV, which crashes on some damaged files.  Texts, and lists of anything but numbers,
are skipped.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.errors import FileFormatError
from mixfield.io.documents import read_json, read_text, read_xml

StrPath = str | os.PathLike[str]
Value = float | NDArray[np.float64]

MAX_YAML = 2 << 20  # bytes: entries without values take one second

_ENTRY = re.compile(r"^([A-Za-z_][\w-]*)[ ]*:(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
# a list ends before the next bracket or key, and a dash stands on its own line: the time is linear in the text
_FIELD = re.compile(r"(rows|cols|sizes|data)\s*:\s*(\[[^\[\]:]*\]|[^\s\[]\S*)")
_DASH = re.compile(r"^[ \t]*-\s+", re.MULTILINE)


def read_storage(path: StrPath) -> dict[str, Value]:
    """Read the numbers and matrices of a file by name."""
    suffix = Path(path).suffix.lower()
    entries: Callable[[StrPath], Iterator[tuple[str, Any]]] = {".json": _json, ".xml": _xml}.get(suffix, _yaml)
    found: dict[str, Value] = {}
    for name, value in entries(path):
        try:
            found[name] = _matrix(value) if isinstance(value, Mapping) else _numbers(value)
        except (ValueError, TypeError, OverflowError, KeyError) as error:
            if isinstance(value, Mapping):
                raise FileFormatError(f"{path}: {name} is not a matrix: {error}") from None
    return found


def _json(path: StrPath) -> Iterator[tuple[str, Any]]:
    yield from read_json(path).items()


def _xml(path: StrPath) -> Iterator[tuple[str, Any]]:
    for element in read_xml(path):
        fields = {child.tag: child.text or "" for child in element}
        yield element.tag, fields if "data" in fields else element.text or ""


def _yaml(path: StrPath) -> Iterator[tuple[str, Any]]:
    text = read_text(path, MAX_YAML)
    if not text.lstrip().startswith(("%YAML", "---")):
        raise FileFormatError(f"{path} is not a YAML file of OpenCV: it must begin with %YAML")
    for name, body in _ENTRY.findall(text):
        is_matrix = "!!opencv-" in body.partition("\n")[0]
        yield name, dict(_FIELD.findall(body)) if is_matrix else body


def _matrix(fields: Mapping[str, Any]) -> NDArray[np.float64]:
    """A matrix from ``rows`` and ``cols``, or ``sizes``, and ``data``."""
    if "data" not in fields:
        raise ValueError("it has no data")
    data = np.atleast_1d(_numbers(fields["data"]))
    sizes = np.atleast_1d(_numbers(fields["sizes"] if "sizes" in fields else [fields["rows"], fields["cols"]]))
    shape = [int(size) for size in sizes]
    if min(shape, default=0) < 0 or int(np.prod(sizes)) != data.size:
        raise ValueError(f"{' x '.join(map(str, shape))} numbers are needed, got {data.size}")
    return data.reshape(shape)


def _numbers(value: Any) -> Value:
    """A number, or the numbers of a list, of a text such as ``[ 1., 2. ]``, or of lines that begin with a dash."""
    if isinstance(value, str):
        words = _DASH.sub(" ", value.strip(" \r\n\t[]")).replace(",", " ").split()
        is_list = len(words) > 1 or "[" in value or value.lstrip().startswith("- ")
        value = words if is_list else words[0] if words else ""
    array = np.array([float(number) for number in value] if isinstance(value, list) else float(value))
    return float(array) if array.ndim == 0 else array
