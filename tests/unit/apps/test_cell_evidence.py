"""Evidence of cells: one peak per person, one person per place."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.apps.cell_evidence import EvidenceStream, of_detections, of_map, peaks, summits
from mixfield.apps.detections import make_detections
from mixfield.scene.ground import Ground

GROUND = Ground((12, 16), 0.25)


def slow_peaks(values, radius):
    """Cells that are the highest within the radius, by comparison with every other; of equals the first."""
    found = []
    for cell in np.ndindex(values.shape):
        near = [c for c in np.ndindex(values.shape) if np.hypot(c[0] - cell[0], c[1] - cell[1]) <= radius]
        highest = values[cell] >= max(values[c] for c in near)
        if highest and values[cell] >= 0.05 and not set(near) & set(found):
            found.append(cell)
    return [row * values.shape[1] + column for row, column in found]


@pytest.mark.parametrize("seed", range(6))
def test_peaks_are_the_highest_cells_of_their_surroundings(seed):
    rng = np.random.default_rng(seed)
    values = rng.choice([0.01, 0.3, 0.6, 0.9], (9, 11)) if seed % 2 else rng.random((9, 11))
    for radius in (1.0, 2.0, 2.9):
        assert peaks(values, radius).tolist() == slow_peaks(values, radius)


def test_a_map_without_people_has_no_peaks():
    assert of_map(np.full(GROUND.shape, 0.01), GROUND).presence.max() == 0.0


@pytest.mark.parametrize("length", [1, 5, 30])
def test_people_may_be_missed_near_detections_of_other_frames(length):
    """One detection in frame 4: the cells within a metre of it get 1 - recall in the seven frames around it."""
    frames = [np.array([[2.0, 1.0, 0.8]]) if t == min(4, length - 1) else np.zeros((0, 2)) for t in range(length)]
    stream = EvidenceStream(GROUND, [], 0.9)
    found = [one for frame in frames for one in stream.update(frame)]
    assert len(found) == max(0, length - 7)
    found += stream.finish()
    assert len(found) == length
    for t, one in enumerate(found):
        distance = np.linalg.norm(GROUND.centres() - GROUND.centres()[4, 8], axis=-1).ravel()
        expected = np.where((distance <= 1.0 + 1e-9) & (abs(t - min(4, length - 1)) <= 7), 0.1, 0.0)
        if t == min(4, length - 1):
            expected[4 * 16 + 8] = 0.8
        np.testing.assert_allclose(one.presence[0], expected)


def test_two_cameras_confirm_each_other_and_one_repeats_itself():
    points = [(1.0, 1.0), (1.2, 1.0)]
    two = make_detections([0, 0], points=points, scores=[0.8, 0.8], camera=[0, 1])
    one = make_detections([0, 0], points=points, scores=[0.8, 0.8], camera=[0, 0])
    confirmed, repeated = (of_detections(found, GROUND, []) for found in (two, one))
    assert confirmed.presence.max() == pytest.approx(1 - 0.2 * 0.2)
    np.testing.assert_allclose(confirmed.points, [[1.1, 1.0]])
    assert repeated.presence.max() == pytest.approx(0.8)
    np.testing.assert_allclose(repeated.points, [[1.0, 1.0]])


def test_people_half_a_metre_apart_are_two_and_those_beyond_the_ground_are_left_out():
    found = make_detections([0] * 3, points=[(1.0, 1.0), (1.6, 1.0), (-3.0, 1.0)])
    assert len(of_detections(found, GROUND, []).cells) == 2


@pytest.mark.parametrize("point", [(1.43, 1.6), (2.01, 1.24), (1.875, 1.375)])
def test_the_summit_of_a_blob_is_between_cells(point):
    squared = ((GROUND.centres() - point) ** 2).sum(-1)
    found = of_map(0.95 * np.exp(-squared / (2 * 0.25**2)), GROUND)
    np.testing.assert_allclose(found.points, [point], atol=1e-9)
    assert found.presence.max() == pytest.approx(0.95)


def test_single_cells_and_plateaus_have_their_summit_in_the_middle():
    values = np.full((5, 6), 1e-9)
    values[2, 3] = 0.9
    steps, heights = summits(values, np.array([15]))
    np.testing.assert_allclose(steps, 0.0)
    np.testing.assert_allclose(heights, 0.9)
    steps, heights = summits(np.full((5, 6), 0.7), np.array([0]))
    np.testing.assert_allclose(steps, 0.0)
    np.testing.assert_allclose(heights, 0.7)
