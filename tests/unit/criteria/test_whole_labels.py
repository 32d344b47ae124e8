"""Cuts of everything at once that one label would take."""

from __future__ import annotations

from dense_fields import scattered_boxes
from leaves import leaf_of

import mixfield as mf


def test_whole_labels_are_all_pixels_that_a_cheaper_label_wins():
    crf, boxes = scattered_boxes()
    first, second = (p.constraint for p in mf.criteria.WholeLabels(tilt=3.0).propose(leaf_of(crf)))
    assert first.group.tolist() == boxes.tolist()
    assert set(first.labels.tolist()) == {1}
    assert first.count == len(boxes) // 2
    assert len(second.group) == 16
    assert set(second.labels.tolist()) == {2}


def test_options_of_whole_labels():
    leaf = leaf_of(scattered_boxes()[0])
    assert [p.constraint.labels[0] for p in mf.criteria.WholeLabels(tilt=2.0).propose(leaf)] == [2]  # 0.1 e^2 < 0.9
    assert len(list(mf.criteria.WholeLabels(largest=1).propose(leaf))) == 1
    assert len(list(mf.criteria.WholeLabels(smallest=0.1).propose(leaf))) == 1
    assert [p.constraint.labels[0] for p in mf.criteria.WholeLabels(most=0.4).propose(leaf)] == [2]  # half of the field


def test_all_boxes_come_back_at_once():
    crf, boxes = scattered_boxes()
    found = mf.infer(crf, 4).labelings().reshape(4, -1)
    assert not (found[0] == 1).any()
    assert max((one[boxes] == 1).mean() for one in found) > 0.9
