"""Pages of the experiments: Markdown templates of ``pages/``, filled with numbers and tables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

FOLDER = Path(__file__).parent / "pages"
BLOCK = re.compile(r"^<!-- (\w+) -->\n", re.MULTILINE)
BLANK_LINES = re.compile(r"\n{3,}")


@dataclass(frozen=True)
class PageTemplate:
    """A template of ``pages/``: the text of the page, then blocks that it contains never, once or many times.

    A line ``<!-- name -->`` starts the block ``name``.  Placeholders are those of `string.Template`.
    """

    blocks: Mapping[str, Template]

    @classmethod
    def read(cls, name: str) -> PageTemplate:
        """The template ``pages/<name>.md``."""
        text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
        first, *rest = BLOCK.split(text)
        named = dict(zip(rest[::2], rest[1::2], strict=True))
        return cls({block: Template(body.strip("\n")) for block, body in {"page": first, **named}.items()})

    def fill(self, block: str = "page", /, **values: Any) -> str:
        """A block with its placeholders replaced; KeyError if one of them has no value."""
        return self.blocks[block].substitute(values)


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table."""
    lines = [f"| {' | '.join(map(str, cells))} |" for cells in (heads, *rows)]
    return "\n".join([lines[0], "|---" * len(heads) + "|", *lines[1:]])


def write_results(out: Path, name: str, results: Any, text: str, *, indent: int | None = 1) -> Path:
    """Write ``<name>.json`` and ``<name>.md`` into a folder; returns the path of the page.

    Blocks that are left empty leave blank lines in ``text``; they are merged into one.
    """
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.json").write_text(json.dumps(results, indent=indent) + "\n", encoding="utf-8")
    page = out / f"{name}.md"
    page.write_text(BLANK_LINES.sub("\n\n", text).strip("\n") + "\n", encoding="utf-8")
    return page
