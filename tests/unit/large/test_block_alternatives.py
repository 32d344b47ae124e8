"""Alternatives of a block: connected regions of the modes, with the probability of the model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from large_images import several_blocks

import mixfield as mf
from mixfield.apps.blocks import blocks_of
from mixfield.apps.change_features import Unchanged
from mixfield.large import block_alternatives as module
from mixfield.large.block_alternatives import block_alternatives
from mixfield.large.block_evidence import ScoreOptions, block_evidence


def two_modes(regions, shape=(80, 112)):
    """Evidence, and a posterior of a labeling of zeros and one with ones in some regions."""
    image, _ = several_blocks(shape, 2)
    scores = np.full((*shape, 2), (0.7, 0.3), np.float32)
    evidence = block_evidence(image, scores, None, ScoreOptions())
    root = mf.mean_field(mf.DenseCRF(-np.log(scores), []))
    changed = root.marginals.copy()
    for region in regions:
        changed[region] = (0.1, 0.9)
    other = replace(root, marginals=changed, log_z=root.log_z - 2.0)
    return evidence, mf.MixturePosterior((root, other), (), 1.0, ())


LARGE, SMALL_ONE, SPECK = np.s_[10:40, 10:50], np.s_[60:70, 60:80], np.s_[75, 5]


def test_components_are_alternatives_of_their_own():
    evidence, posterior = two_modes([LARGE, SMALL_ONE])
    block = blocks_of((80, 112), (80, 112), 0)[0]
    found = block_alternatives(posterior, evidence, block, block.core, None)
    assert [one.window for one in found] == [LARGE, SMALL_ONE]
    assert {(one.old, one.new) for one in found} == {(0, 1)}
    np.testing.assert_allclose([one.probability for one in found], 1 / (1 + np.exp(2.0)))


def test_a_model_gives_each_region_its_probability(monkeypatch):
    evidence, posterior = two_modes([LARGE, SMALL_ONE])
    model = mf.FieldModel.default()
    monkeypatch.setattr(module, "LEAST_USEFUL", 0.0)
    block = blocks_of((80, 112), (80, 112), 0)[0]
    found = block_alternatives(posterior, evidence, block, block.core, model)
    labels = np.zeros((80, 112), int)
    unchanged = Unchanged(evidence.probs, labels, evidence.picture)
    for one in found:
        changed = labels.copy()
        changed[one.window] = 1
        expected = model.answer.probability(unchanged.change(changed))
        assert one.probability == expected
    monkeypatch.setattr(module, "LEAST_USEFUL", found[0].probability)
    assert not block_alternatives(posterior, evidence, block, block.core, model)


def test_only_regions_that_touch_the_core():
    evidence, posterior = two_modes([LARGE, SMALL_ONE])
    block = blocks_of((80, 112), (48, 112), 48)[0]
    found = block_alternatives(posterior, evidence, block, block.core, None)
    assert [one.window for one in found] == [LARGE]
