"""Files of a segmentation from strokes."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.io import read_image, read_label_map
from mixfield.reports.segmentation import LEVELS_PER_BIT
from mixfield.reports.strokes import write_strokes

pytest.importorskip("skimage")


def test_files_are_those_of_segment(tmp_path):
    image = np.zeros((24, 36, 3), np.uint8)
    image[6:18, 10:26] = (200, 40, 30)
    strokes = np.full((24, 36), 255, np.uint8)
    strokes[12, 14:22], strokes[2, 4:30] = 1, 0
    facts = write_strokes(tmp_path, image, strokes, 2, names=("wall", "door"))
    posterior = mf.segment(image, strokes, 2)
    assert facts["weights"] == pytest.approx(posterior.weights.tolist())
    np.testing.assert_array_equal(read_label_map(tmp_path / "mode_1.png"), posterior.labelings()[0])
    np.testing.assert_array_equal(read_label_map(tmp_path / "scribbles.png"), strokes)
    assert (tmp_path / "labels.txt").read_text().split() == ["wall", "door"]
    entropy = read_image(tmp_path / "entropy.png") / LEVELS_PER_BIT
    q = posterior.marginals()
    np.testing.assert_allclose(entropy, -(q * np.log2(q.clip(1e-300))).sum(-1), atol=0.006)
    assert not (tmp_path / "entropy_gap.png").exists()
