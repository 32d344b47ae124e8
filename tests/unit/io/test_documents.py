"""Text, TOML, JSON and XML files: read, or refused with the path."""

from __future__ import annotations

import time

import pytest

from mixfield.errors import FileFormatError, TooLargeError
from mixfield.io import documents
from mixfield.io.documents import read_json, read_lines, read_text, read_toml, read_xml


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
        (read_xml, b"<!DOCTYPE a><a/>", "declares a document type"),
    ],
)
def test_damaged_files_are_named(tmp_path, read, content, complaint):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=complaint) as caught:
        read(path)
    assert str(path) in str(caught.value)


LAUGHS = '<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><l name="&b;">&b;</l>'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "iso-8859-1"])
def test_document_types_are_refused_in_every_encoding(tmp_path, encoding):
    declared = f'<?xml version="1.0" encoding="{encoding.removesuffix("-le").removesuffix("-be")}"?>'
    path = tmp_path / "a.xml"
    path.write_bytes((declared + LAUGHS).encode(encoding))
    with pytest.raises(FileFormatError, match=r"a\.xml declares a document type or entities, which are not read"):
        read_xml(path)
    path.write_bytes((declared + "<l>ä</l>").encode(encoding))
    assert read_xml(path).text == "ä"


def test_xml_has_texts_tails_and_attributes(tmp_path):
    (tmp_path / "a.xml").write_text('<a x="1">one<b/>two<!-- three --><c> 4 </c>&amp;</a>')
    root = read_xml(tmp_path / "a.xml")
    assert (root.tag, root.attrib, root.text) == ("a", {"x": "1"}, "one")
    assert [(child.tag, child.text, child.tail) for child in root] == [("b", None, "two"), ("c", " 4 ", "&")]


@pytest.mark.parametrize(
    ("read", "name", "limit"),
    [(read_json, "MAX_DOCUMENT", 12 << 20), (read_xml, "MAX_XML", 4 << 20), (read_toml, "MAX_TOML", 256 << 10)],
)
def test_sizes_are_limited(tmp_path, read, name, limit):
    assert getattr(documents, name) == limit
    with open(tmp_path / "file", "wb") as file:
        file.truncate(limit + 1)
    with pytest.raises(TooLargeError, match=f"at most {limit} are read"):
        read(tmp_path / "file")


@pytest.mark.parametrize("text", ["a" + ".a" * 20_000 + "=1", "[a" + ".a" * 20_000 + "]", "1" + ".1" * 20_000 + "=1"])
def test_keys_of_many_parts_are_refused_at_once(tmp_path, text):
    (tmp_path / "a.toml").write_text("x = 1\n" + text)
    started = time.process_time()
    with pytest.raises(FileFormatError, match="line 2: more than 200 dots that are not in numbers"):
        read_toml(tmp_path / "a.toml")
    assert time.process_time() - started < 1.0  # tomllib takes four seconds and a gigabyte


def test_many_numbers_in_a_line_of_toml(tmp_path):
    (tmp_path / "a.toml").write_text(f"a = {[k + 0.5 for k in range(1000)]}")
    assert len(read_toml(tmp_path / "a.toml")["a"]) == 1000


def test_lines(tmp_path):
    (tmp_path / "a").write_bytes(b"one\r\ntwo\rthree\n\n\x0bfive")
    assert list(read_lines(tmp_path / "a")) == ["one", "two", "three", "", "\x0bfive"]
    (tmp_path / "a").write_bytes(b"one\n")
    assert list(read_lines(tmp_path / "a")) == ["one"]
    (tmp_path / "a").write_bytes(b"\xff")
    with pytest.raises(FileFormatError, match="not a text file in UTF-8"):
        list(read_lines(tmp_path / "a"))
