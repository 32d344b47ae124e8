"""Scores from files, folders and arrays: layouts, sizes, unknowns, and what is wrong with the others."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.apps.evidence import from_labels, probabilities
from mixfield.apps.pictures import intensities, resized
from mixfield.apps.segmentation import Kernels
from mixfield.errors import FileFormatError, InfeasibleError, MixfieldError
from mixfield.io.folders import annotated, pairs
from mixfield.io.images import write_label_map
from mixfield.io.kernels import read_kernels, write_kernels
from mixfield.io.scores import read_scores

PROBS = np.random.default_rng(0).random((6, 9, 3)).astype(np.float32)


# ------------------------------------------------------------------ files


def test_npy_and_npz(tmp_path):
    np.save(tmp_path / "a.npy", PROBS)
    np.savez(tmp_path / "one.npz", whatever=PROBS)
    np.savez_compressed(tmp_path / "named.npz", other=np.zeros(3), probs=PROBS)
    np.save(tmp_path / "batch.npy", PROBS[None])
    for name in ("a.npy", "one.npz", "named.npz", "batch.npy"):
        np.testing.assert_array_equal(read_scores(tmp_path / name), PROBS)


def test_label_map_file(tmp_path):
    write_label_map(tmp_path / "a.png", [[0, 2, 255]])
    np.testing.assert_array_equal(read_scores(tmp_path / "a.png"), [[0, 2, 255]])


def test_files_that_hold_no_scores(tmp_path):
    (tmp_path / "empty.npy").write_bytes(b"")
    (tmp_path / "text.npy").write_text("hello")
    (tmp_path / "text.npz").write_text("hello")
    (tmp_path / "scores.txt").write_text("hello")
    np.savez(tmp_path / "two.npz", a=PROBS, b=PROBS)
    np.savez(tmp_path / "none.npz")
    np.save(tmp_path / "words.npy", np.array(["a"]))
    np.save(tmp_path / "pickle.npy", np.array([{}], object), allow_pickle=True)
    np.savez(tmp_path / "cut.npz", probs=PROBS)
    (tmp_path / "cut.npz").write_bytes((tmp_path / "cut.npz").read_bytes()[:200])
    sentences = {
        "empty.npy": "empty",
        "text.npy": "pickle",
        "text.npz": "pickle",
        "scores.txt": "must be .npy",
        "two.npz": "one named probs, scores, arr_0, got a, b",
        "none.npz": "got none",
        "words.npy": "numbers are needed",
        "pickle.npy": "pickled objects are not read",
        "cut.npz": "cut.npz does not hold scores",
    }
    for name, sentence in sentences.items():
        with pytest.raises(FileFormatError, match=sentence) as caught:
            read_scores(tmp_path / name)
        assert name in str(caught.value)
        assert "\n" not in str(caught.value)


def test_folders_are_matched_by_stem(tmp_path):
    for folder, names in {"im": ["a.jpg", "b.png", "c.png", "c.jpg", "n.txt"], "sc": ["a.npy", "c.npy"]}.items():
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / name).touch()
    found, wrong = pairs(tmp_path / "im", tmp_path / "sc")
    assert [(i.name, s.name) for i, s in found] == [("a.jpg", "a.npy")]
    assert set(wrong) == {"b.png", "c.png", "c.jpg"}
    assert "no scores b.npy" in wrong["b.png"]
    (tmp_path / "sc" / "a.npz").touch()
    with pytest.raises(MixfieldError, match="several scores are called a"):
        pairs(tmp_path / "im", tmp_path / "sc")
    with pytest.raises(MixfieldError, match="images is missing"):
        annotated(tmp_path)
    with pytest.raises(MixfieldError, match="must be a folder"):
        pairs(tmp_path / "im", tmp_path / "sc" / "a.npy")


def test_kernels_come_back(tmp_path):
    kernels = Kernels(sxy=33.0, srgb=5.5, weight=0.0)
    write_kernels(tmp_path / "k.toml", kernels)
    assert read_kernels(tmp_path / "k.toml") == kernels
    (tmp_path / "k.toml").write_text("[kernels]\nsxy = 20\n")
    assert read_kernels(tmp_path / "k.toml") == Kernels(sxy=20.0)


@pytest.mark.parametrize("text", ["", "nonsense", "[kernels]\nsyx = 3", "[kernels]\nsxy = -3", '[kernels]\nsxy = "3"'])
def test_kernels_that_are_none(tmp_path, text):
    (tmp_path / "k.toml").write_text(text)
    with pytest.raises(FileFormatError, match=r"k\.toml"):
        read_kernels(tmp_path / "k.toml")


# ------------------------------------------------------------------ arrays


def test_labels_first_is_understood_where_labels_last_does_not_fit():
    first = np.moveaxis(PROBS, -1, 0)
    np.testing.assert_array_equal(probabilities(first, (6, 9)), PROBS)
    np.testing.assert_array_equal(probabilities(first, (12, 18)), probabilities(PROBS, (12, 18)))
    cube = np.random.default_rng(1).random((4, 4, 4))
    np.testing.assert_array_equal(probabilities(cube, (4, 4)), cube.astype(np.float32))


def test_lower_resolution_is_interpolated():
    ramp = np.linspace(0, 1, 8, dtype=np.float32)[None, :, None] * np.ones((4, 1, 1), np.float32)
    wide = resized(ramp, (8, 16))[..., 0]
    assert wide.shape == (8, 16)
    np.testing.assert_allclose(np.diff(wide[0])[1:-1], 1 / 14, atol=1e-6)
    np.testing.assert_allclose(resized(np.full((1, 1, 2), 0.3, np.float32), (3, 5)), 0.3)
    both = resized(PROBS, (13, 17))
    assert PROBS.min() <= both.min() <= both.max() <= PROBS.max()


def test_logits_are_interpolated_before_the_softmax():
    logits = np.log(PROBS[:3, :3])
    probs = probabilities(logits, (5, 5), logits=True)
    expected = np.exp(resized(logits, (5, 5)))
    np.testing.assert_allclose(probs / probs.sum(-1, keepdims=True), expected / expected.sum(-1, keepdims=True), 1e-5)
    one = probabilities(np.array([[2.0]]), (1, 1), logits=True)
    assert one[0, 0, 1] / one.sum() == pytest.approx(1 / (1 + np.exp(-2)))


def test_foreground_probability():
    np.testing.assert_allclose(probabilities(np.array([[0.2, 1.0]]), (1, 2)), [[[0.8, 0.2], [0, 1]]], atol=1e-7)


def test_label_maps_with_unknowns():
    probs = from_labels([[0, 2, -1, 255]], certainty=0.8)
    np.testing.assert_allclose(probs[0], [[0.8, 0.1, 0.1], [0.1, 0.1, 0.8], [1 / 3] * 3, [1 / 3] * 3], rtol=1e-6)
    assert from_labels([[0, 1]], n_labels=5).shape == (1, 2, 5)
    np.testing.assert_allclose(from_labels([[0, 1]], unknown=(0,))[0, 0], 0.5)
    np.testing.assert_array_equal(from_labels([[True, False]], certainty=1.0), [[[0, 1], [1, 0]]])
    np.testing.assert_array_equal(from_labels([[0, 255]], certainty=1.0), [[[1], [1]]])
    assert probabilities(np.zeros((2, 3), int), (4, 6)).shape == (4, 6, 1)


def spoilt(index, value):
    array = PROBS.copy()
    array[index] = value
    return array


@pytest.mark.parametrize(
    ("scores", "sentence"),
    [
        (np.swapaxes(PROBS, 0, 1), "width and height are swapped"),
        (np.transpose(PROBS), "look like .L, W, H."),
        (np.zeros((9, 6), int), "width and height are swapped"),
        (np.ones((6, 20, 3)), "resize or crop"),
        (spoilt((1, 2, 0), np.nan), r"NaN, got one at index \(1, 2, 0\)"),
        (spoilt((1, 2, 0), np.inf), "finite"),
        (spoilt((1, 2, 0), -0.1), "--logits"),
        (np.array(["a"]), "of probabilities"),
        (np.zeros((0, 3, 2)), "of probabilities"),
        (np.zeros(4), "of probabilities"),
        (np.full((6, 9), 3.0), "convert a label map to integers"),
        (np.full((6, 9), 255), "only unknown"),
        (np.full((6, 9), -7), "got -7"),
    ],
)
def test_wrong_scores_are_one_sentence(scores, sentence):
    with pytest.raises(MixfieldError, match=sentence) as caught:
        probabilities(scores, (6, 9))
    assert "scores" in str(caught.value)


def test_empty_pixels_are_named():
    with pytest.raises(InfeasibleError, match=r"pixel \(3, 4\) are all zero"):
        probabilities(spoilt((3, 4), 0.0), (6, 9))
    with pytest.raises(InfeasibleError, match=r"pixel \(3, 4\)"):
        probabilities(spoilt((3, 4), -np.inf), (6, 9), logits=True)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"certainty": 1.2}, "certainty"),
        ({"certainty": 0.1}, "certainty"),
        ({"n_labels": 2}, "labels 0..1"),
        ({"logits": True}, "label map"),
    ],
)
def test_wrong_options_of_label_maps(options, sentence):
    with pytest.raises(MixfieldError, match=sentence):
        probabilities(np.array([[0, 2]]), (1, 2), **options)


# ------------------------------------------------------------------ images as arrays


def test_the_type_of_an_image_says_its_range():
    grey = np.array([[0, 51, 255]], np.uint8)
    expected = grey[..., None].astype(np.float32)
    for image in (grey, grey.astype(int), grey.astype(np.uint16) * 257, grey / 255, (grey / 255).astype(np.float32)):
        np.testing.assert_allclose(intensities(image), expected, atol=1e-3)
    np.testing.assert_array_equal(intensities(grey > 100), [[[0], [0], [255]]])


def test_alpha_is_dropped_and_other_channels_are_kept():
    image = np.random.default_rng(0).integers(0, 256, (3, 4, 4), np.uint8)
    np.testing.assert_array_equal(intensities(image), image[..., :3])
    for channels in (1, 2, 3, 5):
        assert intensities(np.zeros((3, 4, channels), np.uint8)).shape == (3, 4, channels)


@pytest.mark.parametrize(
    ("image", "sentence"),
    [
        (np.full((2, 2), 254.0), "divide it by its white"),
        (np.full((2, 2), 1.02), "clip it"),
        (np.full((2, 2), 300), "0..255"),
        (np.full((2, 2), -1), "0..255"),
        (np.full((2, 2), np.nan), "NaN"),
        (np.zeros((2, 2, 2, 2)), "channels"),
        (np.zeros((0, 2)), "channels"),
        (np.array([["a"]]), "numbers"),
    ],
)
def test_wrong_images_are_one_sentence(image, sentence):
    with pytest.raises(MixfieldError, match=sentence):
        intensities(image)
