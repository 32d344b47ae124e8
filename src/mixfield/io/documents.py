"""Text, TOML, JSON and XML files; what cannot be read raises a `FileFormatError` with the path.

The limits on sizes keep the time below two seconds and the memory below 500 MB for any content.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from mixfield import _files
from mixfield.errors import FileFormatError

StrPath = str | os.PathLike[str]

MAX_DOCUMENT = 12 << 20  # bytes of JSON: parsed, it takes up to 25 times as much
MAX_XML = 4 << 20  # bytes: parsed, it takes up to 100 times as much
MAX_TABLE = 256 << 20  # bytes of files with one record per line or number
MAX_TOML = 256 << 10  # bytes
MAX_DOTS = 200  # of one line of TOML: the time and memory of tomllib grow with the square of the parts of a key

_NUMBER = re.compile(r"[0-9]\.[0-9]")


def read_text(path: StrPath, largest: int = MAX_DOCUMENT) -> str:
    """The content of a text file in UTF-8 of at most ``largest`` bytes, with ``\\n`` at the end of every line."""
    try:
        text = _files.read_bytes(path, largest).decode("utf-8")
    except UnicodeDecodeError:
        raise FileFormatError(f"{path} is not a text file in UTF-8") from None
    return unix_lines(text)


def read_lines(path: StrPath) -> Iterator[str]:
    """The lines of a text file in UTF-8, without their ends; one at a time, for a list takes 30 times the memory."""
    text, start = read_text(path, MAX_TABLE), 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    if start < len(text):
        yield text[start:]


def unix_lines(text: str) -> str:
    """The text with ``\\n`` at the end of every line."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_toml(path: StrPath) -> dict[str, Any]:
    """The table of a TOML file."""
    text = read_text(path, MAX_TOML)
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > MAX_DOTS and _NUMBER.sub("", line).count(".") > MAX_DOTS:
            raise FileFormatError(f"{path}, line {number}: more than {MAX_DOTS} dots that are not in numbers")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{path} is not a TOML file: {error}") from None


def read_json(path: StrPath) -> dict[str, Any]:
    """The object of a JSON file."""
    content = _json(path)
    if not isinstance(content, dict):
        raise FileFormatError(f"{path} must hold a JSON object")
    return content


def read_json_list(path: StrPath) -> list[Any]:
    """The list of a JSON file."""
    content = _json(path)
    if not isinstance(content, list):
        raise FileFormatError(f"{path} must hold a JSON list")
    return content


def _json(path: StrPath) -> Any:
    text = read_text(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{path} is not a JSON file: {error}") from None


def read_xml(path: StrPath) -> Element:
    """The root of an XML file.

    Document types are refused in every encoding: entities can expand to gigabytes or name other files.
    """

    def refuse(*declared: object) -> None:  # noqa: ARG001
        raise FileFormatError(f"{path} declares a document type or entities, which are not read; remove them")

    content = _files.read_bytes(path, MAX_XML)
    builder, parser = TreeBuilder(), expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = builder.start, builder.end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        parser.Parse(content, True)
        return builder.close()
    except FileFormatError:
        raise
    except (expat.ExpatError, ValueError, LookupError, RecursionError) as error:
        raise FileFormatError(f"{path} is not an XML file: {error}") from None
