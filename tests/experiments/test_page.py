"""Templates, tables, and the files of a page."""

from __future__ import annotations

import json

import pytest

from experiments import page
from experiments.page import PageTemplate, markdown_table, write_results


@pytest.fixture
def template(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "FOLDER", tmp_path)
    (tmp_path / "some.md").write_text("# $title\n\n$rows\n\n<!-- row -->\n- $name\n\n<!-- empty -->\nnothing\n")
    return PageTemplate.read("some")


def test_blocks_are_filled_one_by_one(template):
    rows = "\n".join(template.fill("row", name=name) for name in ("a", "b"))
    assert template.fill(title="T", rows=rows) == "# T\n\n- a\n- b"
    assert template.fill("empty") == "nothing"


def test_every_placeholder_needs_a_value(template):
    with pytest.raises(KeyError, match="rows"):
        template.fill(title="T")


@pytest.mark.parametrize("path", sorted(page.FOLDER.glob("*.md")), ids=lambda path: path.stem)
def test_templates_have_a_title_and_blocks_that_are_used(path):
    blocks = PageTemplate.read(path.stem).blocks
    assert blocks["page"].template.startswith("# ")
    code = "\n".join(source.read_text() for source in (path.parents[1] / path.stem).glob("*.py"))
    for name in blocks:
        assert name == "page" or f'fill("{name}"' in code or f'"{name}",\n' in code


def test_table():
    assert markdown_table(("a", "b"), [(1, "x"), (2, "")]) == "| a | b |\n|---|---|\n| 1 | x |\n| 2 |  |"


def test_files_of_a_page(tmp_path):
    path = write_results(tmp_path / "out", "some", {"x": [1]}, "# T\n\n\n\ntext\n\n")
    assert path.read_text() == "# T\n\ntext\n"
    assert json.loads(path.with_suffix(".json").read_text()) == {"x": [1]}
