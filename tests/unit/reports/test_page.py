"""The frame of every page."""

from __future__ import annotations

import re

import numpy as np
import pytest
from page_reading import HOSTILE, escaped_count, facts_of, planes_of

from mixfield.reports.page import SCRIPTS, Page, html_table, legend, notes, percent, section, table, weight_bar
from mixfield.reports.palette import LABELS


@pytest.mark.parametrize("kind", SCRIPTS)
def test_a_page_has_the_scripts_of_its_kind(kind):
    text = Page("a & b", kind, "lead", "<p>body</p>").html()
    assert "<title>a &amp; b</title>" in text
    assert f'data-kind="{kind}"' in text
    assert "<p>body</p>" in text
    assert len(re.findall(r"^start\(", text, re.MULTILINE)) == 1


def test_facts_are_finite_and_cannot_end_the_script():
    facts = {"a": [np.inf, float("nan"), 1.5, (2, -np.inf)], "b": {"c": "</script>"}}
    text = Page("t", "field", "", "", facts, b"abc").html()
    assert facts_of(text) == {"a": [None, None, 1.5, [2, None]], "b": {"c": "</script>"}}
    assert planes_of(text) == b"abc"


def test_percent():
    assert [percent(share) for share in (0.0, 1e-4, 0.6214, 1.0)] == ["0.0 %", "< 0.1 %", "62.1 %", "100.0 %"]


def test_tables_escape_texts_and_keep_html():
    text = table(("", "<x>"), [("<a>", 1)], caption="<c>")
    assert "&lt;x&gt;" in text
    assert '<th scope="row">&lt;a&gt;</th><td>1</td>' in text
    assert "<caption>&lt;c&gt;</caption>" in text
    assert "<td><b>2</b></td>" in html_table(("", "x"), [("a", "<b>2</b>")], caption="c")


def test_parts():
    assert notes(["a < b"]) == '<p class="note">Note: a &lt; b</p>'
    assert "width:25.00%" in weight_bar(0.25)
    assert f"rgb({','.join(map(str, LABELS[1]))})" in legend({2: "x < y"})
    assert "x &lt; y" in legend({2: "x < y"})


def test_every_text_is_escaped():
    assert escaped_count(Page(HOSTILE, "field", "", "").html()) == 2  # title of the window and heading
    assert escaped_count(section("name", HOSTILE, "<p>kept</p>")) == 1
    assert "<p>kept</p>" in section("name", "title", "<p>kept</p>")
    assert escaped_count(table((HOSTILE, "x"), [(HOSTILE, HOSTILE)], caption=HOSTILE)) == 4
    assert escaped_count(html_table((HOSTILE,), [], caption=HOSTILE)) == 2
    assert escaped_count(legend({0: HOSTILE, 3: HOSTILE})) == 2
    assert escaped_count(notes([HOSTILE, HOSTILE])) == 2
