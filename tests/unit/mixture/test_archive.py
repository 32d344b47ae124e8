"""Posteriors as files."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from dense_fields import modes_of, two_blobs

import mixfield as mf
from mixfield import _npy
from mixfield._pictures import resize_bilinear
from mixfield.constraints import Cardinality
from mixfield.errors import FileFormatError
from mixfield.mixture.interpretations import with_interpretations


@pytest.fixture(scope="module")
def graph():
    return mf.FactorGraph.potts_grid(0.4 * np.random.default_rng(0).standard_normal((2, 3, 3)), 1.0)


@pytest.fixture(scope="module")
def post(graph):
    return mf.infer(graph, 4)


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
        (lambda h: h.update(version=4), "has format version 4, this mixfield reads versions up to 3; install"),
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
    with pytest.raises(FileFormatError, match=sentence) as refusal:
        mf.load(tmp_path / "bad.npz")
    assert "bad.npz" in str(refusal.value)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_truncated_files(post, tmp_path, share):
    post.save(tmp_path / "good.npz")
    whole = (tmp_path / "good.npz").read_bytes()
    (tmp_path / "bad.npz").write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(FileFormatError, match=r"bad\.npz is not a saved posterior"):
        mf.load(tmp_path / "bad.npz")


def _refusal(path):
    """The sentence with which a file is refused, or None."""
    try:
        mf.load(path)
    except FileFormatError as error:
        return str(error)
    return None


def test_a_flipped_byte_is_an_error_or_harmless(post, tmp_path):
    """Wherever it is: the archive repeats its metadata, and its checksums guard the rest."""
    post.save(tmp_path / "good.npz")
    whole = bytearray((tmp_path / "good.npz").read_bytes())
    refused = 0
    for at in [*range(0, len(whole) - 40, 7), *range(len(whole) - 40, len(whole))]:
        bad = whole.copy()
        bad[at] ^= 0xFF
        (tmp_path / "bad.npz").write_bytes(bad)
        refusal = _refusal(tmp_path / "bad.npz")
        refused += refusal is not None
        if refusal is None:
            mf.load(tmp_path / "bad.npz").save(tmp_path / "again.npz")
            assert (tmp_path / "again.npz").read_bytes() == whole
        else:
            assert "bad.npz" in refusal
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


def test_save_and_load(tmp_path):
    found = modes_of(two_blobs(n_labels=4))
    found.save(tmp_path / "blobs.npz")
    again = mf.load(tmp_path / "blobs.npz")
    assert again.weights == pytest.approx(found.weights)
    assert again.log_z == pytest.approx(found.log_z)
    assert len(again.tree) == len(found.tree)
    for one, other in zip(found.modes, again.modes, strict=True):
        assert np.array_equal(one.marginals, other.marginals)
        assert one.mass_inside == other.mass_inside
        for a, b in zip(one.constraints, other.constraints, strict=True):
            assert np.array_equal(a.group, b.group)
            assert np.array_equal(a.labels, b.labels)
            assert (a.count, a.sign) == (b.count, b.sign)
    assert again.sample(2, rng=0).shape == (2, 24, 32)


def test_compact_files_keep_labels_bounds_and_tree(post, tmp_path):
    post.save(tmp_path / "exact.npz")
    post.save(tmp_path / "compact.npz", compact=True)
    exact, compact = mf.load(tmp_path / "exact.npz"), mf.load(tmp_path / "compact.npz")
    np.testing.assert_array_equal(compact.labelings(), post.labelings())
    np.testing.assert_array_equal(compact.weights, post.weights)
    np.testing.assert_allclose(compact.marginals(), post.marginals(), atol=4e-5)
    assert [mode.log_z for mode in compact.modes] == [mode.log_z for mode in exact.modes]
    assert repr(compact.tree) == repr(exact.tree)
    post.save(tmp_path / "again.npz", compact=True)
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "compact.npz").read_bytes()


@pytest.mark.parametrize("missing", ["labels", "shape", "levels"])
def test_a_compact_file_that_lacks_an_array(post, tmp_path, missing):
    post.save(tmp_path / "a.npz", compact=True)
    with np.load(tmp_path / "a.npz") as file:
        arrays = {name: file[name] for name in file.files if name != missing}
    np.savez(tmp_path / "b.npz", **arrays)
    with pytest.raises(FileFormatError, match="is not a saved posterior"):
        mf.load(tmp_path / "b.npz")


def test_a_segmentation_with_21_labels_takes_less_than_three_megabytes(tmp_path):
    """Scores as sharp as those of networks, four modes that differ in a tenth of the image."""
    rng = np.random.default_rng(0)
    coarse = 12 * rng.normal(size=(24, 32, 21)).astype(np.float32)
    modes = []
    for k in range(4):
        coarse[: 3 * (k > 0), 8 * k : 8 * (k + 1)] += 30 * (np.arange(21) == k)
        logits = resize_bilinear(coarse, (375, 500)).astype(np.float64)
        q = np.exp(logits - logits.max(-1, keepdims=True))
        modes.append(mf.Mode(q / q.sum(-1, keepdims=True), -float(k)))
    group = np.arange(60_000)
    cut = (Cardinality(group, 3, 40_000), Cardinality(group[::-1], 4, 10_000, -1))
    post = mf.MixturePosterior(tuple(replace(mode, constraints=cut) for mode in modes))
    post.save(tmp_path / "a.npz", compact=True)
    assert (tmp_path / "a.npz").stat().st_size < 3_000_000
    again = mf.load(tmp_path / "a.npz")
    np.testing.assert_array_equal(again.labelings(), post.labelings())
    assert [str(c) for c in again.modes[3].constraints] == [str(c) for c in cut]


def _zeros(path, dtype, shape, header):
    """A posterior whose marginals are zeros, compressed to a thousandth."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {"header": _npy_bytes(header), "marginals": _npy_header(dtype, shape)}.items():
            with archive.open(f"{name}.npy", "w") as member:
                member.write(content)
                if name == "marginals":
                    for _ in range(int(np.prod(shape)) * np.dtype(dtype).itemsize >> 20):
                        member.write(bytes(1 << 20))
    return path


def _npy_bytes(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def _npy_header(dtype, shape):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": dtype, "fortran_order": False, "shape": shape})
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("dtype", "shape", "sentence"),
    [
        ("|u1", (4, 1 << 25, 2), r"marginals must be floats \(K, \*shape, L\), got uint8"),
        ("<f2", (4, 1 << 19, 2), r"marginals must be floats \(K, \*shape, L\), got float16"),
        ("<i8", (4, 1 << 19, 2), r"marginals must be floats \(K, \*shape, L\), got int64"),
        ("<f4", (4, 1 << 23, 2), r"bytes cannot have marginals of shape \(4, 8388608, 2\)"),
        ("<f8", (1 << 20,), r"marginals must be floats \(K, \*shape, L\), got float64 of shape \(1048576,\)"),
    ],
)
def test_marginals_are_checked_before_they_are_read(post, tmp_path, monkeypatch, dtype, shape, sentence):
    """Of 256 MB of bytes in a file of 300 kB, float64 would make 2 GB."""
    post.save(tmp_path / "good.npz")
    with np.load(tmp_path / "good.npz") as file:
        header = file["header"]
    path = _zeros(tmp_path / "bad.npz", dtype, shape, header)
    read = _npy._numbers

    def only_the_header(stream, array, available):
        assert array.shape == header.shape, "marginals were read"
        return read(stream, array, available)

    monkeypatch.setattr(_npy, "_numbers", only_the_header)
    with pytest.raises(FileFormatError, match=r"bad\.npz is not a saved posterior: .*" + sentence):
        mf.load(path)


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        (np.zeros(17 << 20, np.uint8), "header must be a text of up to 16777216 bytes, got uint8"),
        (np.zeros(9), "header must be a text of up to 16777216 bytes, got float64"),
        (np.frombuffer(b"[" + b"[]," * 1_000_000 + b"1]", np.uint8), "its header has more than 1000000 lists"),
    ],
    ids=["large", "floats", "lists"],
)
def test_headers_that_would_take_much_memory(tmp_path, header, sentence):
    np.savez_compressed(tmp_path / "bad.npz", header=header, marginals=np.full((1, 2, 2), 0.5))
    with pytest.raises(FileFormatError, match=r"bad\.npz is not a saved posterior: " + sentence):
        mf.load(tmp_path / "bad.npz")


@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan, np.inf])
def test_marginals_that_are_no_probabilities(post, tmp_path, value):
    post.save(tmp_path / "good.npz")
    with np.load(tmp_path / "good.npz") as file:
        header, marginals = file["header"], file["marginals"].copy()
    marginals.flat[3] = value
    np.savez(tmp_path / "bad.npz", header=header, marginals=marginals)
    with pytest.raises(FileFormatError, match="is damaged: marginals must be probabilities"):
        mf.load(tmp_path / "bad.npz")


def test_a_field_of_one_variable_without_axes(tmp_path):
    mf.MixturePosterior((mf.Mode(np.array([0.25, 0.75]), 0.0),)).save(tmp_path / "a.npz")
    assert mf.load(tmp_path / "a.npz").marginals().tolist() == [0.25, 0.75]


def test_a_small_compact_file_with_many_labels_is_read(tmp_path):
    """2000 labels, of which two occur: 1.3 GB as float64 if all were written, from a few kilobytes."""
    q = np.zeros((1, 200, 420, 2))
    q[..., :100, 0], q[..., 100:, :] = 1.0, (0.25, 0.75)
    mf.MixturePosterior((mf.Mode(q[0], 0.0),)).save(tmp_path / "two.npz", compact=True)
    with np.load(tmp_path / "two.npz") as file:
        arrays = dict(file)
    arrays["labels"][:], arrays["shape"][-1] = (7, 1999), 2000
    np.savez_compressed(tmp_path / "many.npz", **arrays)
    assert (tmp_path / "many.npz").stat().st_size < 10_000
    again = mf.load(tmp_path / "many.npz").modes[0].marginals
    assert again.shape == (200, 420, 2000)
    np.testing.assert_allclose(again[0, 200, [7, 8, 1999]], [0.25, 0.0, 0.75], atol=1e-5)


def test_a_compact_file_with_a_million_labels_is_refused(post, tmp_path):
    post.save(tmp_path / "a.npz", compact=True)
    with np.load(tmp_path / "a.npz") as file:
        arrays = dict(file)
    arrays["shape"][-1] = 1_000_000
    np.savez(tmp_path / "b.npz", **arrays)
    with pytest.raises(FileFormatError, match="cannot have levels"):
        mf.load(tmp_path / "b.npz")


def test_a_compact_file_of_a_large_image_is_read(tmp_path):
    """Its groups are runs: a header with a number for each pixel would be larger than what is read of a small file."""
    n = 3_000_000
    groups = [np.arange(k, n - k) for k in range(1, 4)]
    cuts = tuple(Cardinality(group, np.array([0]), 7, +1) for group in groups)
    q = np.zeros((n, 2))
    q[:, 0] = 1.0
    mf.MixturePosterior((mf.Mode(q, 0.0, constraints=cuts),)).save(tmp_path / "a.npz", compact=True)
    again = mf.load(tmp_path / "a.npz").modes[0].constraints
    assert (tmp_path / "a.npz").stat().st_size < 100_000
    for cut, group in zip(again, groups, strict=True):
        np.testing.assert_array_equal(cut.group, group)


@pytest.mark.parametrize("shape", [[0, 2], [-3, 2], [6, 0], [6, -2], []])
def test_shapes_of_a_compact_file_that_are_none(post, tmp_path, shape):
    post.save(tmp_path / "good.npz", compact=True)
    with np.load(tmp_path / "good.npz") as file:
        arrays = dict(file) | {"shape": np.array(shape, np.int64)}
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(FileFormatError, match=r"its shape must be \(\*shape, L\), got \["):
        mf.load(tmp_path / "bad.npz")


@pytest.fixture(scope="module")
def merged():
    """Eight cells as fewer modes."""
    return with_interpretations(mf.infer(mf.datasets.random_ising(4, rng=5), 8, min_distance=0), 4, 8)


@pytest.mark.parametrize("compact", [False, True])
def test_modes_of_several_cells(merged, tmp_path, compact):
    merged.save(tmp_path / "a.npz", compact=compact)
    back = mf.load(tmp_path / "a.npz")
    assert [len(mode.cells) for mode in back.modes] == [len(mode.cells) for mode in merged.modes] != [0] * 8
    np.testing.assert_array_equal(back.weights, merged.weights)
    np.testing.assert_array_equal(back.labelings(), merged.labelings())
    np.testing.assert_array_equal(back.sample(20), merged.sample(20))
    np.testing.assert_allclose(back.marginals(), merged.marginals(), atol=4e-5)
    assert repr(back.tree) == repr(merged.tree)


@pytest.mark.parametrize("cells", [[9], [8, 0], [7, 2], ["8"], [4.0, 4.0]])
def test_numbers_of_cells_that_do_not_fit(merged, tmp_path, cells):
    merged.save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as archive:
        arrays = dict(archive)
    header = json.loads(arrays["header"].tobytes()) | {"cells": cells}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(tmp_path / "b.npz", **arrays)
    with pytest.raises(FileFormatError, match="cells must be numbers above 0 that sum to 8"):
        mf.load(tmp_path / "b.npz")
