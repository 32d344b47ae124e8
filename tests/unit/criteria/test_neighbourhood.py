"""The entropy of "is anybody in this neighbourhood?" and the cuts that follow from it."""

from __future__ import annotations

import numpy as np
import pytest
from leaves import RIGHT, blocks, leaf_of

import mixfield as mf
from mixfield.criteria.neighbourhood import apart, box_sums
from mixfield.criteria.phase_transition import box
from mixfield.errors import MixfieldError


@pytest.mark.parametrize("shape", [(5, 7), (9,), (3, 4, 5), (1, 6)])
@pytest.mark.parametrize("radius", [0, 1, 3, 20])
def test_box_sums_are_sums(shape, radius):
    values = np.random.default_rng(0).normal(size=shape)
    sums = box_sums(values, radius)
    for centre in range(values.size):
        wanted = values.ravel()[box(centre, radius, shape)].sum()
        assert sums.ravel()[centre] == pytest.approx(wanted, abs=1e-12)


def test_apart_keeps_its_distance():
    ranked = np.array([0, 1, 11, 22, 99, 98])
    assert apart(ranked, 2.0, (10, 10), 10).tolist() == [0, 22, 99]
    assert apart(ranked, 1.2, (10, 10), 2).tolist() == [0, 11]


def test_entropy_is_that_of_enumeration():
    p = np.random.default_rng(1).random(6)
    q = np.stack([1 - p, p], axis=-1)
    entropy = mf.criteria.NeighbourhoodEntropy(radius=1)._entropy(q, (2, 3))
    for centre in range(6):
        none = np.prod(1 - p[box(centre, 1, (2, 3))])
        assert entropy[centre] == pytest.approx(-none * np.log2(none) - (1 - none) * np.log2(1 - none), rel=1e-12)


def _proposals(leaf, **options):
    return list(mf.criteria.NeighbourhoodEntropy(**({"label": 0, "most": 1.0} | options)).propose(leaf))


def test_cuts_surround_the_undecided_half():
    """Label 0 of `blocks`: nowhere at T = 1, and possible in the right half at higher temperatures."""
    leaf = leaf_of(blocks())
    proposals = _proposals(leaf)
    assert proposals
    for proposal in proposals:
        cut = proposal.constraint
        assert set(cut.group.tolist()) & RIGHT
        assert set(cut.labels.tolist()) == {0}
        assert (cut.count, cut.sign) == (1, 1)
        assert proposal.temperature in leaf.temperatures
        assert cut.probability(leaf.q) < 0.1  # certain at T = 1, at most 0.3 bits


def test_options_change_the_answer():
    leaf = leaf_of(blocks())

    def groups(**options):
        return [p.constraint.group.tolist() for p in _proposals(leaf, **options)]

    assert groups(radius=0) != groups(radius=1)
    assert len(groups(tries=1)) < len(groups(tries=4))
    assert groups(low=1e-9) == []
    assert groups(high=1.0) == []
    assert len(groups(most=1e-9, tries=2)) < len(groups(tries=2))
    assert groups(label=1) == []  # the whole grid has it, at every temperature


def test_wrong_thresholds():
    with pytest.raises(MixfieldError, match="low < high"):
        mf.criteria.NeighbourhoodEntropy(low=0.7, high=0.3)
