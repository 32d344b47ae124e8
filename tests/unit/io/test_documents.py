"""Text, TOML, JSON and XML files: read, or refused with the path."""

from __future__ import annotations

import pytest

from mixfield.errors import FileFormatError
from mixfield.io.documents import read_json, read_text, read_toml, read_xml


@pytest.mark.parametrize(
    ("read", "text", "content"),
    [
        (read_text, "ä", "ä"),
        (read_toml, "a = 1", {"a": 1}),
        (read_json, '{"a": 1}', {"a": 1}),
    ],
)
def test_content(tmp_path, read, text, content):
    (tmp_path / "file").write_text(text, encoding="utf-8")
    assert read(tmp_path / "file") == content


def test_xml_root(tmp_path):
    (tmp_path / "file").write_text("<a><b c='1'/></a>")
    root = read_xml(tmp_path / "file")
    assert (root.tag, root[0].attrib) == ("a", {"c": "1"})


@pytest.mark.parametrize(
    ("read", "content", "complaint"),
    [
        (read_text, b"\xff\xfe", "not a text file in UTF-8"),
        (read_toml, b"\xff\xfe", "not a text file in UTF-8"),
        (read_toml, b"a = ", "not a TOML file"),
        (read_json, b"{", "not a JSON file"),
        (read_json, b"[1]", "must hold a JSON object"),
        (read_json, b"[" * 100_000, "not a JSON file"),
        (read_xml, b"<a>", "not an XML file"),
        (read_xml, b"<!DOCTYPE a><a/>", "document type"),
    ],
)
def test_damaged_files_are_named(tmp_path, read, content, complaint):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=complaint) as caught:
        read(path)
    assert str(path) in str(caught.value)
