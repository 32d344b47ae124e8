"""Changes of a stronger field on the mean field of a fitted one: cells, bounds and marginals by enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import mixfield as mf
from mixfield.apps.alternatives import changes_of, disjoint_changes
from mixfield.apps.straight_edges import ImageEdges
from mixfield.mixture.posterior import MixturePosterior
from mixfield.solvers.mode import Mode

SHAPE, L = (2, 4), 3
IMAGE = np.random.default_rng(1).integers(0, 255, (*SHAPE, 3), dtype=np.uint8)
NO_SHIFTS = np.zeros((*SHAPE, L))  # no label is probable enough to be cheaper
ALL = np.array(list(itertools.product(range(L), repeat=8)))


def _mode(labels, sure=0.999):
    q = np.full((*SHAPE, L), (1 - sure) / (L - 1))
    np.put_along_axis(q, np.array(labels).reshape(*SHAPE, 1), sure, -1)
    return q


@pytest.fixture
def energy():
    unary = 9.0 * np.random.default_rng(0).random((*SHAPE, L))
    return mf.DenseCRF(unary, [mf.Gaussian(1.0, 0.5), mf.Bilateral(IMAGE, 3.0, 20.0, 0.5)])


@pytest.fixture
def found(energy):
    """The mean field and modes that change two halves, both, and nothing."""
    root = mf.mean_field(energy).labeling().ravel()
    changes = [root.copy() for _ in range(4)]
    changes[0][:4] = (root[:4] + 1) % L
    changes[1][4:] = (root[4:] + 1) % L
    changes[2][:] = (root + 1) % L
    modes = [Mode(_mode(labels), -float(k)) for k, labels in enumerate([root, *changes])]
    return MixturePosterior(tuple(modes))


def test_alternatives_have_the_labels_of_the_changes(found, energy):
    changed = changes_of(found, energy, IMAGE, NO_SHIFTS)
    assert changed.labelings()[:4].reshape(-1, 8).tolist() == found.labelings()[:4].reshape(-1, 8).tolist()
    assert changed.root_mode == 0
    root = mf.mean_field(energy)
    np.testing.assert_array_equal(changed.modes[0].marginals, root.marginals)
    np.testing.assert_array_equal(changed.modes[1].marginals[1], root.marginals[1])  # outside of the change
    np.testing.assert_array_equal(changed.modes[1].marginals[0], found.modes[1].marginals[0])


def test_every_labeling_is_in_one_cell(found, energy):
    changed = changes_of(found, energy, IMAGE, NO_SHIFTS)
    inside = np.array([np.all([c.holds(ALL) for c in mode.constraints], 0) for mode in changed.modes])
    assert (inside.sum(0) == 1).all()
    for mode, cell in zip(changed.modes, inside, strict=True):
        q = mode.marginals.reshape(8, L)
        mass = q[np.arange(8), ALL].prod(1)[cell].sum()
        assert mass == pytest.approx(mode.mass_inside, abs=1e-6)
        assert mass > 0.99


def test_bounds_are_those_of_the_energy_and_below_log_z(found, energy):
    changed = changes_of(found, energy, IMAGE, NO_SHIFTS)
    for mode in changed.modes:
        q = mode.marginals.astype(np.float64)
        entropy = -(q * np.log(np.maximum(q, 1e-300))).sum()
        assert mode.log_z == pytest.approx(entropy - energy.expected(q), abs=1e-4)
    assert changed.log_z <= np.logaddexp.reduce(-energy.of(ALL.reshape(-1, *SHAPE))) + 1e-6


def test_the_tree_leads_to_the_modes(found, energy, tmp_path):
    changed = changes_of(found, energy, IMAGE, NO_SHIFTS)
    for node in changed.tree:
        if node.mode >= 0:
            path, at = [], node
            while at.parent >= 0:
                path.append(at.constraint.identity)
                at = changed.tree[at.parent]
            assert path[::-1] == [c.identity for c in changed.modes[node.mode].constraints]
    assert sorted(node.mode for node in changed.tree if node.mode >= 0) == list(range(len(changed.modes)))
    changed.save(tmp_path / "p.npz", compact=True)
    assert mf.load(tmp_path / "p.npz").labelings().tolist() == changed.labelings().tolist()


def test_changes_between_several_pairs_of_labels_have_parts():
    """A mode that changes several pairs of labels: each of them is an alternative, one that is there already is not."""
    energy = mf.DenseCRF(60.0 * np.random.default_rng(0).random((*SHAPE, L)), [])
    answer = mf.mean_field(energy)
    root = answer.labeling().ravel()
    both = np.where(np.arange(8) < 4, root + 1, root + 2) % L
    pairs = [np.where((root == old) & (both == new), both, root) for old, new in set(zip(root, both, strict=True))]
    given = MixturePosterior(tuple(Mode(_mode(labels), 0.0) for labels in (root, both, pairs[0])))
    changed = changes_of(given, energy, IMAGE, NO_SHIFTS)
    labelings = changed.labelings().reshape(-1, 8)
    assert labelings[:3].tolist() == [root.tolist(), both.tolist(), pairs[0].tolist()]
    assert sorted(labelings[2:].tolist()) == sorted(part.tolist() for part in pairs)
    whole = changes_of(given, energy, IMAGE, NO_SHIFTS, parts=False).labelings()
    assert whole.reshape(-1, 8).tolist() == labelings[:3].tolist()
    for mode, labels in zip(changed.modes[3:], labelings[3:], strict=True):
        kept = (labels == root).reshape(SHAPE)
        np.testing.assert_array_equal(mode.marginals[kept], answer.marginals[kept])


def test_modes_without_bounds_are_the_same_modes(found, energy):
    both = disjoint_changes(found, energy, IMAGE, NO_SHIFTS).modes(), changes_of(found, energy, IMAGE, NO_SHIFTS).modes
    assert len(both[0]) > 1
    for plain, bounded in zip(*both, strict=True):
        np.testing.assert_array_equal(plain.marginals, bounded.marginals)
        assert [c.identity for c in plain.constraints] == [c.identity for c in bounded.constraints]


def test_a_doubtful_change_has_no_cell(found, energy):
    doubtful = Mode(_mode(found.labelings()[1], sure=0.4), -9.0)
    changed = changes_of(MixturePosterior((found.modes[0], doubtful)), energy, IMAGE, NO_SHIFTS)
    assert len(changed.modes) == 1
    assert changed.modes[0].constraints == ()


def test_a_change_with_straight_edges_is_refined_to_follow_the_image():
    """A window over a disc: what changes is nearly the disc."""
    rows, columns = np.indices((80, 48))
    disc = (rows - 20) ** 2 + (columns - 24) ** 2 < 100
    noise = np.random.default_rng(0).normal(0, np.where(rows < 40, 1, 20))
    image = (80 + noise + 60 * disc)[..., None]
    window = (abs(rows - 20) < 9) & (abs(columns - 24) < 12)
    energy = mf.DenseCRF(np.full((80, 48, 2), (0.0, 9.0)), [])
    changes = np.stack([disc & ~disc, window])[..., None]
    found = tuple(Mode(q, 0.0) for q in np.where(changes, (0.001, 0.999), (0.999, 0.001)))
    _, changed = changes_of(MixturePosterior(found), energy, image, np.zeros((80, 48, 2))).labelings() > 0
    assert not ImageEdges(image).follow(window)
    assert ImageEdges(image).follow(changed)
    assert (changed != disc).sum() < 0.1 * (window != disc).sum()
    assert (changed & ~window).any()  # borders move both ways
