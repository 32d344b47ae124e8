"""The page of a posterior over any field."""

from __future__ import annotations

import numpy as np
from page_reading import HOSTILE, escaped_count, facts_of

import mixfield as mf
from mixfield.reports.field_page import MAX_VARIABLES, field_page


def test_a_field_page_of_one_mode_and_of_infinite_bounds():
    post = mf.MixturePosterior((mf.Mode(np.full((3, 2), 0.5), -np.inf),), notes=("nothing stands",))
    page = field_page(post)
    assert "nothing stands" in page
    assert facts_of(page)["tree"] == []
    assert 'id="variables"' not in page


def test_only_variables_that_change_are_listed_largest_change_first():
    q = np.full((3, 2), 0.5)
    one, two = q.copy(), q.copy()
    one[1], two[1] = (0.9, 0.1), (0.2, 0.8)
    one[2], two[2] = (0.6, 0.4), (0.5, 0.5)
    page = field_page(mf.MixturePosterior((mf.Mode(one, 0.0), mf.Mode(two, -1.0))), names=("a", "<b>", "c"))
    places = [page.find(f'data-variable="{i}"') for i in range(3)]
    assert places[0] == -1
    assert 0 < places[1] < places[2]
    assert '<th scope="row">&lt;b&gt;</th><td>0 (90.0 %)</td><td class="other">1 (80.0 %)</td>' in page


def test_long_tables_are_cut():
    n = MAX_VARIABLES + 7
    modes = tuple(mf.Mode(np.tile(q, (n, 1)), 0.0) for q in ((0.9, 0.1), (0.1, 0.9)))
    assert field_page(mf.MixturePosterior(modes)).count("data-variable=") == MAX_VARIABLES


def test_fields_with_two_axes_have_maps_and_names_of_two_indices():
    page = field_page(mf.infer(mf.datasets.four_zones(4), 2))
    assert page.count('<img src="data:image/png') == 2
    assert "x(3, 3)" in page


def test_hostile_titles_names_and_notes_are_escaped():
    modes = tuple(mf.Mode(np.array([q, (0.5, 0.5)]), 0.0) for q in ((0.9, 0.1), (0.1, 0.9)))
    page = field_page(mf.MixturePosterior(modes, notes=(HOSTILE,)), names=(HOSTILE, "x"), title=HOSTILE)
    assert escaped_count(page) == 5  # two titles, the note, the variable's name and its key for the search
