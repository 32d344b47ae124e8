"""Cuts of images: regions that the evidence would give to another label."""

from __future__ import annotations

import numpy as np
import pytest
from dense_fields import BOX_SHAPE, box_pixels, scattered_boxes, sky_with_box
from leaves import leaf_of

import mixfield as mf
from mixfield.criteria.regions import regions, temperatures
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


def test_regions_are_connected_and_the_largest_come_first(crf):
    leaf = leaf_of(crf)
    marked = np.zeros(BOX_SHAPE, bool)
    marked[0:2, 0:2] = marked[10:14, 3:9] = marked[20, 30] = True
    found = regions(leaf, marked.ravel(), smallest=0.0, largest=2)
    assert [len(group) for group in found] == [24, 4]
    assert (np.diff(found[0] // 32) <= 1).all()
    assert [len(group) for group in regions(leaf, marked.ravel(), smallest=5 / 768, largest=9)] == [24]
    assert regions(leaf, np.zeros(768, bool), smallest=0.0, largest=2) == []


def test_temperatures_are_shares_of_gamma_and_not_below_one(crf):
    """Gamma = 7: the default kernels."""
    assert temperatures(leaf_of(crf).solver, (0.5, 0.01, 0.5)) == [1.0, pytest.approx(3.5)]


def test_options_of_regions(crf):
    box, boxes = leaf_of(crf), leaf_of(scattered_boxes()[0])

    def cuts(criterion, leaf=box):
        return [(p.constraint.group.tolist(), int(p.constraint.labels[0])) for p in criterion.propose(leaf)]

    for kind in (mf.criteria.SuppressedRegions, mf.criteria.DoubtedRegions):
        assert cuts(kind(levels=(0.3,))) != cuts(kind())
        assert len(cuts(kind(levels=(0.95, 0.05), largest=5), boxes)) > len(cuts(kind(levels=(0.95, 0.05)), boxes))
        assert cuts(kind(smallest=0.9)) == []
    windows = mf.criteria.SuppressedWindows
    assert cuts(windows(shares=(0.3,))) != cuts(windows(shares=(0.6,)))
    assert cuts(windows(heats=(0.5,))) != cuts(windows(heats=(0.15,)))
    assert cuts(windows(smallest=0.99)) == []
