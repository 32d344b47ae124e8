"""What the pages on people share: the recording and its annotations, and MODA over the distance threshold."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.reproduce import pets
from mixfield.reproduce.people import THRESHOLDS, moda_curve
from mixfield.reproduce.tracking import WAYS, Walked, measure


def test_curve_takes_the_best_candidate_of_each_frame_at_each_threshold():
    truth = {0: np.array([[0.0, 0.0]]), 1: np.array([[5.0, 5.0]])}
    near, far = {0: np.array([[0.0, 0.4]]), 1: np.empty((0, 2))}, {0: np.array([[0.0, 1.1]]), 1: truth[1]}
    curve = moda_curve(truth, [near, far])
    assert [point["threshold"] for point in curve] == list(THRESHOLDS)
    assert [point["moda"] for point in curve] == [0.0] + [1.0] * 7  # 0.25 m: both candidates of frame 0 are wrong
    assert [point["misses"] for point in moda_curve(truth, [near])] == [2] + [1] * 7


@pytest.fixture
def annotated(data, tmp_path):
    """A recording with annotations of the frames 0 to 401, whose last boxes are those of frame 0, rounded."""
    original = data / "people" / "pets09-s2l1"
    for path in original.iterdir():
        if path.name != pets.ALL:
            (tmp_path / path.name).symlink_to(path)
    boxes = pets.read_cvml(original / pets.FIRST)[0].round(1)
    lines = [f"{frame},{','.join(map(str, row))},1" for frame in (1, 401, 402) for row in boxes.tolist()]
    (tmp_path / pets.ALL).write_text("\n".join(lines))
    return pets.Pets(tmp_path)


def test_held_out_frames_need_their_annotations(annotated):
    assert annotated.held_out() == range(400, 795)
    assert not pets.Pets(annotated.folder, (1, 8)).held_out()  # the other views end there
    (first, feet), (other, others) = annotated.people([0, 400]).values()
    np.testing.assert_array_equal(first, other)
    np.testing.assert_allclose(feet, others, atol=0.05)
    (annotated.folder / pets.ALL).unlink()
    assert not annotated.held_out()


@pytest.mark.parametrize("way", WAYS)
def test_every_way_on_a_short_walk(way):
    row = measure(Walked(seed=0, frames=6), way)
    assert row["way"] == way
    assert ("tracks" in row) == ("KSP" in way)
    assert row.get("tracks", {}).get("violations", 0) == 0
    assert row["curve"][-1]["moda"] > 0.5
