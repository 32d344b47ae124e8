"""Text, TOML, JSON and XML files; what cannot be read raises a `FileFormatError` with the path."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from mixfield.errors import FileFormatError

StrPath = str | os.PathLike[str]


def read_text(path: StrPath) -> str:
    """The content of a text file in UTF-8."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise FileFormatError(f"{path} is not a text file in UTF-8") from None


def read_toml(path: StrPath) -> dict[str, Any]:
    """The table of a TOML file."""
    text = read_text(path)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{path} is not a TOML file: {error}") from None


def read_json(path: StrPath) -> dict[str, Any]:
    """The object of a JSON file."""
    text = read_text(path)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{path} is not a JSON file: {error}") from None
    if not isinstance(content, dict):
        raise FileFormatError(f"{path} must hold a JSON object")
    return content


def read_xml(path: StrPath) -> ElementTree.Element:
    """The root of an XML file; entities are refused, they can expand to gigabytes or name other files."""
    content = Path(path).read_bytes()
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise FileFormatError(f"{path} declares entities or a document type, which are not read; remove them")
    try:
        return ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError, LookupError, RecursionError) as error:
        raise FileFormatError(f"{path} is not an XML file: {error}") from None
