"""The mixture: marginals, samples, densities."""

from __future__ import annotations

from dataclasses import replace

import naive
import numpy as np
import pytest
from dense_fields import modes_of, two_blobs

import mixfield as mf
from mixfield.energy.active_labels import active_labels
from mixfield.errors import FewerModesWarning, MixfieldError
from mixfield.mixture.node import Node


@pytest.fixture(scope="module")
def graph():
    return mf.FactorGraph.potts_grid(0.4 * np.random.default_rng(0).standard_normal((2, 3, 3)), 1.0)


@pytest.fixture(scope="module")
def post(graph):
    return mf.infer(graph, 4)


@pytest.fixture(scope="module")
def density(post):
    """Probability of every state, by hand."""
    every = naive.states((3,) * 6)
    q = [m.marginals.reshape(6, 3) for m in post.modes]
    by_hand = [
        sum(w * naive.product_probability(one, x) for w, one in zip(post.weights, q, strict=True)) for x in every
    ]
    return every, np.array(by_hand)


def test_weights_and_log_z(post):
    bounds = np.array([m.log_z for m in post.modes])
    np.testing.assert_allclose(post.weights, np.exp(bounds) / np.exp(bounds).sum(), rtol=1e-12)
    assert post.log_z == pytest.approx(np.log(np.exp(bounds).sum()), abs=1e-12)
    assert post.shape == (2, 3)


def test_marginals_are_those_of_the_density(post, density):
    every, probability = density
    wanted = np.zeros((6, 3))
    for x, p in zip(every, probability, strict=True):
        wanted[range(6), x] += p
    np.testing.assert_allclose(post.marginals(), wanted.reshape(2, 3, 3), rtol=0, atol=1e-12)


def test_labelings_are_the_most_probable_labels(post):
    assert post.labelings().shape == (4, 2, 3)
    for x, mode in zip(post.labelings(), post.modes, strict=True):
        np.testing.assert_array_equal(x, mode.marginals.argmax(-1))


def test_log_prob_is_that_of_enumeration_and_sums_to_one(post, density):
    every, probability = density
    ours = post.log_prob(every.reshape(-1, 2, 3))
    np.testing.assert_allclose(np.exp(ours), probability, rtol=1e-10, atol=1e-300)
    assert np.exp(ours).sum() == pytest.approx(1.0, abs=1e-12)
    assert post.log_prob(every[5].reshape(2, 3)) == pytest.approx(np.log(probability[5]), abs=1e-10)
    assert post.log_prob(every[:6].reshape(2, 3, 2, 3)).shape == (2, 3)


def test_log_prob_of_the_impossible():
    graph = mf.FactorGraph.from_factors([2, 3], [((0, 1), [[0.0, 1.0, 0.5], [0.3, 0.2, 0.1]])])
    with pytest.warns(FewerModesWarning):
        post = mf.infer(graph, 3)
    assert post.log_prob([2, 0]) == -np.inf


def test_wrong_labelings(post):
    with pytest.raises(MixfieldError, match=r"x must lie in 0\.\.2, got 3"):
        post.log_prob(np.full((2, 3), 3))
    with pytest.raises(MixfieldError, match=r"x must have shape .* ending in the shape of the field"):
        post.log_prob(np.zeros((3, 2), int))


def test_samples_have_the_frequencies_of_the_density(post, density):
    """Chi-square on 729 states, those expected fewer than 20 times pooled; fixed seed, else wrong once in 10^4."""
    from scipy.stats import chi2

    every, probability = density
    n = 40_000
    drawn = post.sample(n, rng=1)
    assert drawn.shape == (n, 2, 3)
    code = drawn.reshape(n, 6) @ (3 ** np.arange(5, -1, -1))
    seen = np.bincount(code, minlength=729)
    assert every[5] @ (3 ** np.arange(5, -1, -1)) == 5
    often = n * probability >= 20
    expected = np.append(n * probability[often], n * probability[~often].sum())
    counted = np.append(seen[often], seen[~often].sum())
    statistic = ((counted - expected) ** 2 / expected).sum()
    low, high = chi2.ppf([5e-5, 1 - 5e-5], len(expected) - 1)
    assert low < statistic < high


def test_samples_repeat_and_seeds_differ(post):
    assert post.sample(20, rng=3).tobytes() == post.sample(20, rng=np.random.default_rng(3)).tobytes()
    assert post.sample(20, rng=3).tobytes() != post.sample(20, rng=4).tobytes()
    assert post.sample(0).shape == (0, 2, 3)
    with pytest.raises(MixfieldError, match="n must be an integer >= 0"):
        post.sample(-1)


def test_samples_never_take_a_label_of_probability_zero():
    q = np.tile([0.0, 1.0, 0.0], (50, 1))
    post = mf.MixturePosterior((mf.Mode(q, 0.0),))
    assert (post.sample(200) == 1).all()


def test_labels_left_out_come_back():
    """Label 0 and 1 become 3 and 1 of five; the others can never matter."""
    crf = two_blobs(n_labels=5)
    turn = np.array([2, 1, 3, 0, 4])
    turned = mf.DenseCRF(crf.unary[..., turn], [mf.Gaussian(1.0, 0.5), *pictures()])
    assert active_labels(turned)[0].tolist() == [1, 3]
    found = modes_of(turned)
    assert len(found.modes) == 4
    assert found.marginals().shape == (24, 32, 5)
    for mode in found.modes:
        assert not mode.marginals[..., [0, 2, 4]].any()
        for constraint in mode.constraints:
            assert set(constraint.labels.tolist()) <= {1, 3}
            assert constraint.probability(mode.marginals.reshape(-1, 5)) >= 1 - 1e-4
    for node in found.tree[1:]:
        assert set(node.constraint.labels.tolist()) <= {1, 3}
    plain = modes_of(two_blobs())
    assert found.log_z == pytest.approx(plain.log_z, abs=1e-2)
    assert np.array_equal(found.labelings() == 1, plain.labelings() == 1)


def pictures():
    """The appearance kernel of `two_blobs`."""
    image = np.zeros((24, 32, 3))
    image[4:12, 4:12], image[8:20, 20:28] = (200, 0, 0), (0, 200, 0)
    return [mf.Bilateral(image, 10.0, 20.0, 3.0)]


def test_the_root_mode_is_the_one_with_the_roots_bound(post):
    tree = (Node(-1, None, float("nan"), post.modes[2].log_z, -1),)
    assert replace(post, tree=tree).root_mode == 2
    assert replace(post, tree=()).root_mode == 0


def test_labels_of_a_larger_set(post):
    labels = np.array([1, 4, 2])
    wide = post.with_labels(labels, 6)
    assert wide.marginals().shape == (2, 3, 6)
    assert np.array_equal(wide.marginals()[..., labels], post.marginals())
    assert not wide.marginals()[..., [0, 3, 5]].any()
    assert np.array_equal(wide.labelings(), labels[post.labelings()])
    for one, other in zip(post.modes, wide.modes, strict=True):
        for a, b in zip(one.constraints, other.constraints, strict=True):
            assert np.array_equal(labels[a.labels], b.labels)
            assert np.array_equal(a.group, b.group)
    x = post.sample(5, rng=0)
    assert wide.log_prob(labels[x]) == pytest.approx(post.log_prob(x), abs=1e-12)


def test_other_weights_mix_other_marginals(post):
    first = np.array([1.0, 0.0, 0.0, 0.0])
    assert np.array_equal(post.marginals(first), post.modes[0].marginals)
    with pytest.raises(MixfieldError, match="one weight per mode"):
        post.marginals([1.0])


def test_modes_without_a_bound_weigh_the_same():
    q = np.full((2, 2), 0.5)
    post = mf.MixturePosterior((mf.Mode(q, -np.inf), mf.Mode(q, -np.inf)))
    assert post.weights.tolist() == [0.5, 0.5]
    assert post.log_z == -np.inf


def test_a_file_gives_the_posterior_back(post, tmp_path):
    noted = replace(post, notes=("a note",))
    noted.save(tmp_path / "a.npz")
    again = mf.load(tmp_path / "a.npz")
    assert np.array_equal(again.marginals(), post.marginals())
    assert (again.t_max, again.notes, len(again.tree)) == (post.t_max, ("a note",), len(post.tree))


def test_the_repr_is_short(post):
    weights = ", ".join(f"{weight:.4g}" for weight in post.weights)
    text = repr(post)
    assert weights in text
    assert "..." not in text
    assert f"log_z={post.log_z:.6g}, exact_log_z={post.exact_log_z:.6g})" in text
    many = repr(mf.MixturePosterior(tuple(mf.Mode(np.full((2, 2), 0.5), 0.0) for _ in range(40))))
    assert "..." in many
    assert len(many) < 300
