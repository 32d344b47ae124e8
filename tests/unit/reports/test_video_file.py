"""The frames of a video page as a file."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.errors import FileFormatError
from mixfield.reports.video_file import read_video, write_video
from mixfield.reports.video_page import VideoFrame


@pytest.fixture
def frames():
    rng = np.random.default_rng(0)
    return [
        VideoFrame(
            rng.integers(0, 256, (4, 5, 3), dtype=np.uint8),
            rng.integers(0, 3, (4, 5)),
            rng.integers(0, 3, (count, 4, 5)),
            rng.dirichlet(np.ones(count)),
            chosen=count - 1,
            number=10 + count,
        )
        for count in (1, 3, 2)
    ]


def test_round_trip_without_the_padding(frames, tmp_path):
    write_video(tmp_path / "v.npz", frames)
    found = read_video(tmp_path / "v.npz")
    assert [frame.number for frame in found] == [11, 13, 12]
    for one, two in zip(frames, found, strict=True):
        for name in ("image", "mean_field", "modes", "weights"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
        assert one.chosen == two.chosen
    assert [frame.number for frame in read_video(tmp_path / "v.npz", slice(1, None))] == [13, 12]


@pytest.mark.parametrize(
    ("name", "array", "complaint"),
    [
        ("version", 2, "format version 2"),
        ("images", np.zeros((3, 4, 5)), "images must be of uint8"),
        ("weights", np.full((3, 3), -0.1), "probabilities"),
        ("weights", np.full((2, 3), 0.1), "weights must have shape"),
        ("weights", np.full((3, 3), 1.1), "weights must"),
        ("chosen", [0, 0, 3], "chosen must lie in"),
        ("modes", np.zeros((3, 3, 4, 4), int), "modes must have shape"),
        ("numbers", [0, 1], "numbers must have shape"),
        ("costs", [np.nan] * 3, "costs must not contain NaN"),
    ],
)
def test_files_that_do_not_fit(frames, tmp_path, name, array, complaint):
    write_video(tmp_path / "v.npz", frames)
    with np.load(tmp_path / "v.npz") as file:
        arrays = dict(file)
    np.savez(tmp_path / "v.npz", **(arrays | {name: array}))
    with pytest.raises(FileFormatError, match=complaint):
        read_video(tmp_path / "v.npz")


def test_labels_of_one_byte_stay_so(tmp_path):
    """As int64 they would take eight times the memory."""
    labels = np.zeros((2, 2, 4, 5), np.uint8)
    arrays = {"images": np.zeros((2, 4, 5, 3), np.uint8), "mean_field": labels[:, 0], "modes": labels}
    np.savez(tmp_path / "v.npz", **arrays, weights=np.full((2, 2), 0.5), chosen=[0, 1])
    frames = read_video(tmp_path / "v.npz")
    assert {np.asarray(frame.modes).dtype for frame in frames} == {np.dtype(np.uint8)}
    assert {np.asarray(frame.mean_field).dtype for frame in frames} == {np.dtype(np.uint8)}
