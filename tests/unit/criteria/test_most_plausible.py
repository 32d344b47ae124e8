"""Which of many cuts comes first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from dense_fields import box_pixels, modes_of, scattered_boxes, sky_with_box
from leaves import leaf_of

import mixfield as mf


@pytest.fixture
def crf():
    return sky_with_box()


def test_whole_labels_come_first():
    crf, boxes = scattered_boxes()
    leaf = leaf_of(crf)
    cuts = [p.constraint for p in mf.criteria.MostPlausible().propose(leaf)]
    assert any(cut.group.tolist() == boxes.tolist() for cut in cuts[:2])
    assert {int(cut.labels[0]) for cut in cuts[:2]} == {1, 2}
    without = [p.constraint for p in mf.criteria.MostPlausible(first=()).propose(leaf)]
    assert not any(cut.group.tolist() == boxes.tolist() for cut in without)


def test_the_most_plausible_cut_comes_first_and_none_twice(crf):
    cuts = [p.constraint for p in mf.criteria.MostPlausible().propose(leaf_of(crf))]
    assert np.isin(cuts[0].group, box_pixels()).all()
    keys = {(cut.group.tobytes(), int(cut.labels[0])) for cut in cuts}
    assert len(keys) == len(cuts)


def test_what_was_cut_is_not_cut_again(crf):
    leaf = leaf_of(crf)
    cut = next(mf.criteria.MostPlausible().propose(leaf)).constraint
    leaf = replace(leaf, cell=leaf.cell.cut(cut.opposite() if cut.probability(leaf.q) < 0.5 else cut))
    for proposal in mf.criteria.MostPlausible().propose(leaf):
        assert not np.isin(proposal.constraint.group, cut.group).any()


def test_the_modes_disagree_about_the_box(crf):
    first, second = mf.infer(crf, 2).labelings()
    assert (first != second).ravel()[box_pixels()].mean() > 0.9
    assert (first != second).mean() < 0.15


def test_modes_with_nearly_the_same_labels_are_one(crf):
    labelings = modes_of(crf, 4).labelings()
    assert len(labelings) > 1
    for k, one in enumerate(labelings):
        assert all((one == other).mean() <= 0.995 for other in labelings[:k])


def test_temperatures_are_those_that_are_asked_for(crf):
    leaf = leaf_of(crf)
    criterion, asked = mf.criteria.MostPlausible(), []
    at, leaf.annealed.at = leaf.annealed.at, lambda heats, cell: asked.extend(heats) or at(heats, cell)
    list(criterion.propose(leaf))
    assert set(asked) == set(criterion.temperatures(leaf.solver))
    assert replace(criterion, sources=()).temperatures(leaf.solver) == []
