"""Evidence of strokes for regions."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest

from mixfield.interactive.region_graph import RegionGraph, adjacent, similar_pairs
from mixfield.interactive.stroke_evidence import EvidenceWeights, reach, stroke_evidence, stroke_features


def strip(colours):
    """Regions of 4 x 4 pixels in a row."""
    n = len(colours)
    regions = np.repeat(np.repeat(np.arange(n)[None], 4, 0), 4, 1)
    appearance = np.zeros((n, 6))
    appearance[:, 0] = colours
    return RegionGraph(regions, np.full(n, 16.0), appearance, *adjacent(regions), similar_pairs(appearance))


def test_regions_follow_the_strokes_of_their_colour():
    graph = strip([0, 0, 0, 80, 80, 80])
    seeds = np.array([0, -1, -1, -1, -1, 1])
    evidence = stroke_evidence(graph, seeds, 2, frame=None, weights=EvidenceWeights())
    assert evidence.argmax(1).tolist() == [0, 0, 0, 1, 1, 1]


def test_far_evidence_crosses_other_colours():
    graph = strip([80, 0, 0, 0, 0, 80, 80])
    seeds = np.array([1, -1, 0, -1, -1, -1, -1])
    near, far, *_ = np.moveaxis(stroke_features(graph, seeds, 2, frame=None), -1, 0)
    assert near[5].argmax() == 0
    assert far[5].argmax() == 1


def test_the_border_of_the_image_stands_for_a_label():
    graph = strip([0, 0, 0, 0, 0])
    seeds = np.array([-1, -1, 1, -1, -1])
    without = stroke_features(graph, seeds, 2, frame=None)[..., 0]
    framed = stroke_features(graph, seeds, 2, frame=0)[..., 0]
    assert (without[:, 0] < -6).all()  # the smallest logarithm: nothing speaks for label 0
    assert (framed[[0, 1, 3, 4], 0] > -3).all()
    assert framed[2, 1] > framed[1, 1] > framed[0, 1]


def test_relabelling_relabels_the_evidence():
    rng = np.random.default_rng(0)
    graph, seeds = strip(rng.uniform(0, 90, 12)), np.full(12, -1)
    seeds[[0, 5, 11]] = 0, 1, 2
    swapped = np.where(seeds < 0, -1, np.array([2, 0, 1])[seeds])
    one = stroke_evidence(graph, seeds, 3, frame=None, weights=EvidenceWeights())
    other = stroke_evidence(graph, swapped, 3, frame=None, weights=EvidenceWeights())
    np.testing.assert_allclose(one, other[:, [2, 0, 1]])


@pytest.mark.parametrize("name", ["near", "far", "near_mass", "far_mass"])
def test_every_weight_counts(name):
    graph, seeds = strip([0, 10, 30, 80]), np.array([0, -1, -1, 1])
    weights = EvidenceWeights()
    changed = EvidenceWeights(**{**weights.__dict__, name: 3.0})
    one, other = (stroke_evidence(graph, seeds, 2, frame=0, weights=w) for w in (weights, changed))
    assert not np.allclose(one, other)
    features = stroke_features(graph, seeds, 2, frame=0)
    np.testing.assert_allclose(one, features @ np.array(astuple(weights)))


def test_reach_falls_with_distance_and_ends_at_other_seeds():
    found = reach(strip([0, 0, 0, 0, 80, 80]), np.array([-1, 1, -1, 0, -1, -1]), np.array([1]))
    assert found[1] == 1
    assert found[3] == 0
    assert 0 < found[2] < 1
    assert found[4:].max() < 1e-6
