"""Cuts of images: regions that the evidence would give to another label, the most plausible first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mixfield as mf
from mixfield.constraints.cell import Cell
from mixfield.criteria.annealed import AnnealedMarginals
from mixfield.criteria.leaf import Leaf
from mixfield.criteria.optima import Optima
from mixfield.errors import MixfieldError
from mixfield.solvers import solver_for

SHAPE = (24, 32)


@pytest.fixture
def crf():
    """Sky above ground, and a box of 60 pixels that is the third label with probability 0.4."""
    probs = np.full((*SHAPE, 3), 0.02)
    probs[:12, :, 0] = probs[12:, :, 1] = 1.0
    probs[4:10, 10:20] = (0.6, 0.0, 0.4)
    image = np.zeros(SHAPE, np.uint8)
    image[12:] = 120
    return mf.DenseCRF.from_probabilities(probs, image, negligible=0.0)


def leaf_of(energy):
    mode = mf.mean_field(energy)
    allowed = np.ones((int(np.prod(energy.shape)), energy.n_labels), bool)
    solver, rng = solver_for(energy), np.random.default_rng(0)
    return Leaf(
        solver=solver,
        cell=Cell(allowed),
        q=np.asarray(mode.marginals, np.float64).reshape(-1, energy.n_labels),
        log_z=mode.log_z,
        temperatures=np.array([2.0]),
        optima=Optima(len(allowed), energy.n_labels, capacity=0),
        annealed=AnnealedMarginals(solver, rng),
        rng=rng,
    )


def box():
    inside = np.zeros(SHAPE, bool)
    inside[4:10, 10:20] = True
    return np.flatnonzero(inside)


def test_a_suppressed_label_is_proposed_where_it_is_likely(crf):
    found = next(mf.criteria.SuppressedRegions(levels=(0.3,)).propose(leaf_of(crf))).constraint
    assert found.group.tolist() == box().tolist()
    assert set(found.labels.tolist()) == {2}
    assert found.count == 30


def test_a_doubted_label_is_given_up(crf):
    found = next(mf.criteria.DoubtedRegions(levels=(0.8,)).propose(leaf_of(crf))).constraint
    assert found.group.tolist() == box().tolist()
    assert set(found.labels.tolist()) == {0}


def test_windows_hold_the_suppressed_label(crf):
    cuts = [p.constraint for p in mf.criteria.SuppressedWindows(shares=(0.3,)).propose(leaf_of(crf))]
    wanted = next(cut for cut in cuts if cut.labels[0] == 2)
    assert np.isin(wanted.group, box()).mean() > 0.9


def scattered(n_labels=3):
    """Ground, on which a checkerboard of boxes is label 1 with probability 0.1, and one box label 2 with 0.2."""
    probs = np.zeros((*SHAPE, n_labels))
    boxes = (np.add.outer(np.arange(24) // 4, np.arange(32) // 4) % 2).astype(bool)
    probs[boxes, 1] = 0.1
    probs[0:4, 0:4, 2] = 0.2
    probs[..., 0] = 1.0 - probs.sum(-1)
    image = np.where(boxes, 90, 60).astype(np.uint8)
    return mf.DenseCRF.from_probabilities(np.maximum(probs, 1e-4), image, negligible=0.0), np.flatnonzero(boxes)


def test_whole_labels_are_all_pixels_that_a_cheaper_label_wins():
    crf, boxes = scattered()
    first, second = (p.constraint for p in mf.criteria.WholeLabels(tilt=3.0).propose(leaf_of(crf)))
    assert first.group.tolist() == boxes.tolist()
    assert set(first.labels.tolist()) == {1}
    assert first.count == len(boxes) // 2
    assert len(second.group) == 16
    assert set(second.labels.tolist()) == {2}


def test_options_of_whole_labels():
    leaf = leaf_of(scattered()[0])
    assert [p.constraint.labels[0] for p in mf.criteria.WholeLabels(tilt=2.0).propose(leaf)] == [2]  # 0.1 e^2 < 0.9
    assert len(list(mf.criteria.WholeLabels(largest=1).propose(leaf))) == 1
    assert len(list(mf.criteria.WholeLabels(smallest=0.1).propose(leaf))) == 1
    assert [p.constraint.labels[0] for p in mf.criteria.WholeLabels(most=0.4).propose(leaf)] == [2]  # half of the field


def test_whole_labels_come_first():
    crf, boxes = scattered()
    leaf = leaf_of(crf)
    cuts = [p.constraint for p in mf.criteria.MostPlausible().propose(leaf)]
    assert any(cut.group.tolist() == boxes.tolist() for cut in cuts[:2])
    assert {int(cut.labels[0]) for cut in cuts[:2]} == {1, 2}
    without = [p.constraint for p in mf.criteria.MostPlausible(first=()).propose(leaf)]
    assert not any(cut.group.tolist() == boxes.tolist() for cut in without)


def test_all_boxes_come_back_at_once():
    crf, boxes = scattered()
    found = mf.infer(crf, 4).labelings().reshape(4, -1)
    assert not (found[0] == 1).any()
    assert max((one[boxes] == 1).mean() for one in found) > 0.9


def test_the_most_plausible_cut_comes_first_and_none_twice(crf):
    cuts = [p.constraint for p in mf.criteria.MostPlausible().propose(leaf_of(crf))]
    assert np.isin(cuts[0].group, box()).all()
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
    assert (first != second).ravel()[box()].mean() > 0.9
    assert (first != second).mean() < 0.15


def test_modes_with_nearly_the_same_labels_are_one(crf):
    labelings = mf.infer(crf, 4).labelings() if _many(crf) else mf.infer(crf, 2).labelings()
    for k, one in enumerate(labelings):
        assert all((one == other).mean() <= 0.995 for other in labelings[:k])


def _many(crf):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return len(mf.infer(crf, 4).modes) == 4


def test_regions_need_a_dense_field():
    graph = mf.FactorGraph.ising(np.zeros(4), [(0, 1), (1, 2), (2, 3)], 2.0)
    with pytest.raises(MixfieldError, match="DenseCRF"):
        mf.infer(graph, 2, criterion=mf.criteria.SuppressedRegions())
