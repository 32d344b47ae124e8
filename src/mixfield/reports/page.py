"""One self-contained HTML page: style, script, numbers and pictures in one file that loads nothing from anywhere."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Any

from mixfield import __version__

# nothing but what the file itself holds
POLICY = "default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"

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
<footer>Made by mixfield {version}. This file holds everything it shows and loads nothing from the network.</footer>
<script type="application/json" id="facts">{facts}</script>
<script type="text/plain" id="planes">{planes}</script>
<script>
{script}</script>
</body>
</html>
"""


@dataclass(frozen=True)
class Page:
    """What a page says.

    Attributes
    ----------
    title : heading, and title of the window.
    kind : which part of the script brings it to life: segmentation, field, people or video.
    lead, body : HTML; text in it is escaped already.
    facts : numbers and strings for the script; NaN and infinities become null.
    planes : bytes for the script, such as one byte per pixel, label and mode; they are compressed.
    """

    title: str
    kind: str
    lead: str
    body: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    planes: bytes = b""

    def html(self) -> str:
        """The text of the file."""
        folder = files("mixfield.reports")
        return TEMPLATE.format(
            policy=POLICY,
            version=__version__,
            title=escape(self.title),
            kind=self.kind,
            style=folder.joinpath("page.css").read_text(encoding="utf-8"),
            lead=self.lead,
            body=self.body,
            facts=_json(self.facts),
            planes=base64.b64encode(zlib.compress(self.planes, 9)).decode() if self.planes else "",
            script=folder.joinpath("page.js").read_text(encoding="utf-8"),
        )


def percent(share: float) -> str:
    """A probability as people read it: ``62.1 %``, ``< 0.1 %``."""
    return f"{100 * share:.1f} %" if share >= 5e-4 or share == 0 else "< 0.1 %"


def table(heads: tuple[str, ...], rows: list[tuple[object, ...]], *, caption: str) -> str:
    """An HTML table; the first cell of each row is its heading."""
    top = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    lines = []
    for first, *rest in rows:
        cells = "".join(f"<td>{escape(str(cell))}</td>" for cell in rest)
        lines.append(f'<tr><th scope="row">{escape(str(first))}</th>{cells}</tr>')
    return (
        f'<div class="scroll"><table><caption>{escape(caption)}</caption><thead><tr>{top}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def notes(texts: tuple[str, ...]) -> str:
    """What a reader should know, as HTML."""
    return "".join(f'<p class="note">Note: {escape(text)}</p>' for text in texts)


def _json(value: object) -> str:
    text = json.dumps(_finite(value), separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")  # no "</script>" inside a script


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    if isinstance(value, Mapping):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    return value
