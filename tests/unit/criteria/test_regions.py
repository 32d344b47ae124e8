"""Cuts of images: regions that the evidence would give to another label."""

from __future__ import annotations

import numpy as np
import pytest
from dense_fields import box_pixels, sky_with_box
from leaves import leaf_of

import mixfield as mf
from mixfield.errors import MixfieldError


@pytest.fixture
def crf():
    return sky_with_box()


def test_a_suppressed_label_is_proposed_where_it_is_likely(crf):
    found = next(mf.criteria.SuppressedRegions(levels=(0.3,)).propose(leaf_of(crf))).constraint
    assert found.group.tolist() == box_pixels().tolist()
    assert set(found.labels.tolist()) == {2}
    assert found.count == 30


def test_a_doubted_label_is_given_up(crf):
    found = next(mf.criteria.DoubtedRegions(levels=(0.8,)).propose(leaf_of(crf))).constraint
    assert found.group.tolist() == box_pixels().tolist()
    assert set(found.labels.tolist()) == {0}


def test_windows_hold_the_suppressed_label(crf):
    cuts = [p.constraint for p in mf.criteria.SuppressedWindows(shares=(0.3,)).propose(leaf_of(crf))]
    wanted = next(cut for cut in cuts if cut.labels[0] == 2)
    assert np.isin(wanted.group, box_pixels()).mean() > 0.9


def test_regions_need_a_dense_field():
    graph = mf.FactorGraph.ising(np.zeros(4), [(0, 1), (1, 2), (2, 3)], 2.0)
    with pytest.raises(MixfieldError, match="DenseCRF"):
        mf.infer(graph, 2, criterion=mf.criteria.SuppressedRegions())
