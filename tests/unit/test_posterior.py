"""The mixture: marginals, samples, densities, files."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace

import naive
import numpy as np
import pytest

import mixfield as mf
from mixfield.errors import FewerModesWarning, FileFormatError, MixfieldError


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


# ---------------------------------------------------------------- files


def test_round_trip(post, tmp_path):
    post.save(tmp_path / "one.npz")
    again = mf.load(tmp_path / "one.npz")
    assert again.log_z == post.log_z
    assert again.t_max == post.t_max
    assert again.notes == post.notes
    for a, b in zip(again.modes, post.modes, strict=True):
        assert a.marginals.tobytes() == b.marginals.tobytes()
        assert a.marginals.shape == b.marginals.shape
        assert (a.log_z, a.mass_inside, a.converged, a.iterations) == (
            b.log_z,
            b.mass_inside,
            b.converged,
            b.iterations,
        )
        assert [str(c) for c in a.constraints] == [str(c) for c in b.constraints]
    for a, b in zip(again.tree, post.tree, strict=True):
        assert (a.parent, a.log_z, a.mode, str(a.constraint)) == (b.parent, b.log_z, b.mode, str(b.constraint))
    again.save(tmp_path / "two.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def test_the_same_seed_gives_the_same_file(graph, post, tmp_path):
    post.save(tmp_path / "one.npz")
    mf.infer(graph, 4, rng=0).save(tmp_path / "two.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one.npz", "two.npz"]


def test_notes_and_unfinished_modes_survive(tmp_path):
    mode = mf.Mode(np.full((2, 2), 0.5), -np.inf, converged=False, mass_inside=0.5, iterations=7, temperature=2.0)
    post = mf.MixturePosterior((mode,), notes=("fewer", "ö"))
    post.save(tmp_path / "a.npz")
    again = mf.load(tmp_path / "a.npz")
    assert again.notes == ("fewer", "ö")
    assert np.isnan(again.t_max)
    assert again.modes[0].log_z == -np.inf
    assert not again.modes[0].converged
    assert again.modes[0].temperature == 2.0


def _rewritten(source, target, change):
    """A saved posterior with another header."""
    with np.load(source) as file:
        header, marginals = json.loads(bytes(file["header"])), file["marginals"]
    change(header)
    np.savez(target, header=np.frombuffer(json.dumps(header).encode(), np.uint8), marginals=marginals)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda h: h.update(version=2), "has format version 2, this mixfield reads version 1; install"),
        (lambda h: h.update(format="other"), "its header does not say 'mixfield-posterior'"),
        (lambda h: h.pop("tree"), "is damaged: 'tree'"),
        (lambda h: h["modes"].pop(), "is damaged"),
        (lambda h: h["modes"][0].update(log_z="x"), "is damaged"),
        (lambda h: h["modes"][1]["constraints"][0].update(count=99), "is damaged: count must lie in"),
        (lambda h: h.update(modes=None), "is damaged"),
    ],
)
def test_headers_that_cannot_be_read(post, tmp_path, change, sentence):
    post.save(tmp_path / "good.npz")
    _rewritten(tmp_path / "good.npz", tmp_path / "bad.npz", change)
    with pytest.raises(FileFormatError, match=sentence) as told:
        mf.load(tmp_path / "bad.npz")
    assert "bad.npz" in str(told.value)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_truncated_files(post, tmp_path, share):
    post.save(tmp_path / "good.npz")
    whole = (tmp_path / "good.npz").read_bytes()
    (tmp_path / "bad.npz").write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(FileFormatError, match=r"bad\.npz is not a saved posterior"):
        mf.load(tmp_path / "bad.npz")


def _told(path):
    """The sentence with which a file is refused, or None."""
    try:
        mf.load(path)
    except FileFormatError as error:
        return str(error)
    return None


def test_a_flipped_byte_is_told_or_harmless(post, tmp_path):
    """Wherever it is: the archive repeats its metadata, and its checksums guard the rest."""
    post.save(tmp_path / "good.npz")
    whole = bytearray((tmp_path / "good.npz").read_bytes())
    refused = 0
    for at in [*range(0, len(whole) - 40, 7), *range(len(whole) - 40, len(whole))]:
        bad = whole.copy()
        bad[at] ^= 0xFF
        (tmp_path / "bad.npz").write_bytes(bad)
        told = _told(tmp_path / "bad.npz")
        refused += told is not None
        if told is None:
            mf.load(tmp_path / "bad.npz").save(tmp_path / "again.npz")
            assert (tmp_path / "again.npz").read_bytes() == whole
        else:
            assert "bad.npz" in told
    assert refused > 100


@pytest.mark.parametrize("content", ["text", "png", "npy", "foreign npz", "pickled npz", "plain zip"])
def test_wrong_files(tmp_path, content):
    path = tmp_path / "wrong.npz"
    if content == "text":
        path.write_text("MARKOV 3\n2 2 2\n")
    elif content == "png":
        path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    elif content == "npy":
        with path.open("wb") as file:
            np.save(file, np.zeros(3))
    elif content == "foreign npz":
        np.savez(path, a=np.zeros(3))
    elif content == "pickled npz":
        np.savez(path, header=np.array([{"format": "mixfield-posterior"}], dtype=object), marginals=np.zeros(3))
    else:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("header.npy", "nonsense")
        path.write_bytes(buffer.getvalue())
    with pytest.raises(FileFormatError, match=r"wrong\.npz is not a saved posterior"):
        mf.load(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        mf.load(tmp_path / "nothing.npz")


def test_a_failed_save_leaves_nothing_behind(post, tmp_path):
    broken = replace(post, t_max=object())  # cannot be written
    with pytest.raises(TypeError):
        broken.save(tmp_path / "x.npz")
    assert list(tmp_path.iterdir()) == []
