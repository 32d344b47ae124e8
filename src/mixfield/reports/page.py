"""The frame of every page: one HTML file that contains its style, scripts, numbers and images."""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Any

from mixfield import __version__
from mixfield.reports.palette import label_colors

POLICY = "default-src 'none'; img-src data: blob:{images}; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
CONTAINS_ALL = "This file contains everything it shows"
SCRIPTS = {
    "segmentation": ("page.js", "cut_tree.js", "segmentation.js"),
    "field": ("page.js", "cut_tree.js", "field.js"),
    "people": ("page.js", "sequence.js", "people.js"),
    "video": ("page.js", "sequence.js", "video.js"),
    "gallery": ("page.js", "gallery.js"),
    "large": ("page.js", "large.js"),
}

TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="generator" content="mixfield {version}">
<title>{title}</title>
<style>
{style}</style>
</head>
<body data-kind="{kind}">
<a class="skip" href="#main">Skip to the result</a>
<header><h1>{title}</h1><p class="lead">{lead}</p></header>
<main id="main">
<noscript><p class="note">This page draws with JavaScript, which is switched off here: only its tables are shown.</p>
</noscript>
{body}
</main>
<footer>Made by mixfield {version}. {contains} and loads nothing from the network.</footer>
<script type="application/json" id="facts">{facts}</script>
<script type="text/plain" id="planes">{planes}</script>
<script>
{script}</script>
</body>
</html>
"""


@dataclass(frozen=True)
class Page:
    """The content of a page.

    Attributes
    ----------
    title : heading, and title of the window.
    kind : a key of `SCRIPTS`, which scripts it has.
    lead, body : HTML; text in it is already escaped.
    facts : numbers and strings for the script; NaN and infinities become null.
    planes : bytes for the script, such as one byte per pixel, label and mode; they are compressed.
    folder : name of the folder beside the page whose images it shows; none by default.
    """

    title: str
    kind: str
    lead: str
    body: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    planes: bytes = b""
    folder: str = ""

    def html(self) -> str:
        """The text of the HTML file."""
        return TEMPLATE.format(
            policy=POLICY.format(images=" 'self' file:" if self.folder else ""),
            contains=f"It shows the folder {escape(self.folder)} beside it" if self.folder else CONTAINS_ALL,
            version=__version__,
            title=escape(self.title),
            kind=self.kind,
            style=_static("page.css"),
            lead=self.lead,
            body=self.body,
            facts=_json(self.facts),
            planes=base64.b64encode(zlib.compress(self.planes, 9)).decode() if self.planes else "",
            script="\n".join(map(_static, SCRIPTS[self.kind])),
        )


def percent(share: float) -> str:
    """A probability in per cent: ``62.1 %``, ``< 0.1 %``."""
    return f"{100 * share:.1f} %" if share >= 5e-4 or share == 0 else "< 0.1 %"


def number_of(count: int, noun: str) -> str:
    """``1 image``, ``2 images``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def section(name: str, title: str, content: str) -> str:
    """A section with a heading; ``name`` is the id of the heading, ``content`` is HTML."""
    return f'<section aria-labelledby="{name}"><h2 id="{name}">{escape(title)}</h2>{content}</section>'


def table(heads: Sequence[str], rows: Sequence[Sequence[object]], *, caption: str) -> str:
    """An HTML table of texts; the first cell of each row is its heading."""
    return html_table(heads, [[escape(str(cell)) for cell in row] for row in rows], caption=caption)


def html_table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str) -> str:
    """The same of cells that are HTML already."""
    lines = [
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>' for first, *rest in rows
    ]
    return (
        f'<div class="scroll"><table><caption>{escape(caption)}</caption>'
        f"<thead><tr>{column_headings(heads)}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def column_headings(heads: Sequence[str]) -> str:
    """The cells of the first row of a table; an empty text is an empty cell."""
    return "".join(f'<th scope="col">{escape(head)}</th>' if head else "<td></td>" for head in heads)


def weight_bar(weight: float, width: str = "100%") -> str:
    """A probability as a bar; ``width`` is the CSS length of probability one."""
    return (
        f'<span class="bar" style="width:{width}" aria-hidden="true"><i style="width:{100 * weight:.2f}%"></i></span>'
    )


def legend(names: Mapping[int, str]) -> str:
    """The names of labels from 0 to 255 beside their colors."""
    colors = label_colors().tolist()
    items = [
        f'<li><i style="background:rgb({",".join(map(str, colors[label]))})"></i>{escape(name)}</li>'
        for label, name in names.items()
    ]
    return f'<ul class="keys" aria-label="labels">{"".join(items)}</ul>'


def notes(texts: Sequence[str]) -> str:
    """Notes on a result, as HTML."""
    return "".join(f'<p class="note">Note: {escape(text)}</p>' for text in texts)


def _static(name: str) -> str:
    return files("mixfield.reports").joinpath("static", name).read_text(encoding="utf-8")


def _json(value: object) -> str:
    text = json.dumps(_finite(value), separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")  # no "</script>" inside a script


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(entry) for entry in value]
    return value
