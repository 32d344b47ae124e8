"""The tree of cuts on a page."""

from __future__ import annotations

import re

import numpy as np
import pytest
from page_reading import facts_of

import mixfield as mf
from mixfield.constraints.cardinality import Cardinality
from mixfield.mixture.interpretations import with_interpretations
from mixfield.mixture.node import Node
from mixfield.reports.cut_tree import MARGIN, tree_facts, tree_section, tree_svg
from mixfield.reports.field_page import field_page


def test_the_tree_names_every_node():
    post = mf.infer(mf.datasets.random_ising(5, rng=0), 6)
    text = tree_svg(post)
    assert text.count("data-node=") == len(post.tree) == 11
    for k, weight in enumerate(post.weights, 1):
        assert f"mode {k} · " in text, weight
    children = facts_of(field_page(post))["tree"]
    for node in children:
        if node["cut"]:
            assert node["weight"] == pytest.approx(sum(children[k]["weight"] for k in node["children"]))


def test_a_cut_has_its_group_and_label_names():
    post = mf.infer(mf.datasets.four_zones(6), 2)
    root, *leaves = tree_facts(post, lambda group: sorted(group.tolist()), names=("off", "on"))
    constraint = next(node.constraint for node in post.tree if node.parent == 0)
    assert root["cut"]["group"] == sorted(constraint.group.tolist())
    assert root["cut"]["labels"] in ("off", "on")
    assert {leaf["mode"] for leaf in leaves} == {0, 1}
    assert root["weight"] == pytest.approx(1.0)


def test_a_single_node_has_no_section():
    assert tree_section(mf.MixturePosterior((mf.Mode(np.full((3, 2), 0.5), 0.0),))) == ""


def test_small_weights_are_escaped():
    """A weight below 0.1 % is written with a less-than sign."""
    cut = Cardinality(np.arange(3), np.ones(3, int), 2)
    nan = float("nan")
    tree = (Node(-1, None, nan, 0.0, -1), Node(0, cut, 1.0, 0.0, 0), Node(0, cut.opposite(), 1.0, -20.0, 1))
    modes = tuple(mf.Mode(np.full((3, 2), 0.5), log_z) for log_z in (0.0, -20.0))
    text = tree_svg(mf.MixturePosterior(modes, tree=tree))
    assert text.count("mode 2 · &lt; 0.1 %") == 2  # the name of the node and its text
    assert "· <" not in text
    assert "mode 1 · 100.0 %, at least 2 of 3" in text
    assert "&lt; 0.1 %, fewer than 2 of 3" in text
    assert "cut · 100.0 %, all states" in text


@pytest.mark.parametrize(("sign", "words"), [(1, "takes it"), (-1, "does not take it")])
def test_the_cut_of_one_variable_in_words(sign, words):
    cut = Cardinality(np.array([2]), np.array([1]), 1, sign)
    tree = (Node(-1, None, float("nan"), 0.0, -1), Node(0, cut, 1.0, 0.0, 0))
    post = mf.MixturePosterior((mf.Mode(np.full((3, 2), 0.5), 0.0),), tree=tree)
    root, leaf = tree_facts(post, lambda group: group.tolist())
    assert leaf["side"] == words
    assert root["side"] == ""
    assert root["cut"]["labels"] == "label 1"


def test_the_drawing_holds_every_node():
    """Nodes do not overlap, and the drawing ends one margin after the last of them."""
    text = tree_svg(mf.infer(mf.datasets.random_ising(5, rng=0), 6))
    width, height = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', text).groups())
    boxes = np.array(re.findall(r'<rect x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)"', text), float)
    assert len(boxes) == 11
    assert (boxes[:, :2] + boxes[:, 2:]).max(0).tolist() == [width - MARGIN, height - MARGIN]
    assert boxes[:, :2].min(0).tolist() == [MARGIN, MARGIN]
    for a in range(11):
        for b in range(a):
            assert (np.abs(boxes[a, :2] - boxes[b, :2]) >= boxes[a, 2:]).any()
    assert text.count("<path ") == 10


def test_leaves_of_one_mode_share_its_weight():
    cells = mf.infer(mf.datasets.random_ising(4, rng=5), 8, min_distance=0)
    post = with_interpretations(cells, 4, 8)
    facts = tree_facts(post, list)
    assert len(post.modes) < 8
    assert facts[0]["weight"] == pytest.approx(1.0)
    for k, weight in enumerate(post.weights):
        assert sum(fact["weight"] for fact in facts if fact["mode"] == k) == pytest.approx(weight)
