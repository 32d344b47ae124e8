"""Long sequences in windows: continued tracks, the bound of the whole, constant memory."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.tracking.doubts import doubtful_walk
from mixfield.errors import MixfieldError
from mixfield.temporal.choice import choose_modes
from mixfield.temporal.costs import FrameCosts, frame_costs, stack
from mixfield.temporal.timegrid import Motion
from mixfield.temporal.windows import Limits, Windows, WindowStream


def scene_frames(scene):
    for p in scene.posteriors:
        yield frame_costs(p.weights, np.stack([mode.marginals[..., 1].ravel() for mode in p.modes]))


def choose_in_windows(frames, motion, **options):
    """The segments of all frames."""
    stream = WindowStream(motion, **options)
    for frame in frames:
        yield from stream.update(frame)
    yield from stream.finish()


def joined(segments):
    """Modes, tracks as {identity: {frame: cell}}, cost and bound of the whole."""
    tracks = {}
    for segment in segments:
        for identity, path in segment.paths.items():
            tracks.setdefault(identity, {}).update(zip(path.frames.tolist(), path.cells.tolist(), strict=True))
    modes = np.concatenate([segment.modes for segment in segments])
    return modes, tracks, sum(s.cost for s in segments), sum(s.bound for s in segments)


def cost_by_hand(costs, motion, modes, tracks):
    cells = sum(costs.chosen(modes)[t, cell] for track in tracks.values() for t, cell in track.items())
    steps = sum(motion.cost_of(np.array([track[t] for t in sorted(track)])) for track in tracks.values())
    return costs.price(modes) + cells + motion.entry_cost * len(tracks) + steps


@pytest.mark.parametrize(("seed", "entry_cost", "sigma"), [(0, 0.0, np.inf), (1, 5.0, np.inf), (2, 0.0, 1.0)])
def test_windows_give_the_answer_of_one_window(seed, entry_cost, sigma):
    scene = doubtful_walk(60, shape=(16, 16), people=4, rng=seed)
    motion = Motion((16, 16), 1, scene.ground.border(), entry_cost, sigma=sigma)
    whole = choose_modes(stack(list(scene_frames(scene))), motion)
    assert whole.cost == pytest.approx(whole.bound, rel=1e-6)
    cut = list(choose_in_windows(scene_frames(scene), motion, windows=Windows(36, 20)))
    assert [s.first for s in cut] == [0, 16, 32]
    modes, tracks, cost, bound = joined(cut)
    assert cost == pytest.approx(whole.cost, rel=1e-9)
    assert modes.tolist() == whole.modes.tolist()
    assert sorted(min(track.items()) for track in tracks.values()) == sorted(
        (path.first, int(path.cells[0])) for path in whole.paths
    )
    assert bound <= whole.cost + 1e-6
    assert bound >= whole.cost - 0.01 * abs(whole.cost)


@pytest.mark.parametrize("seed", range(8))
def test_any_cut_is_a_valid_answer_with_a_valid_bound(seed):
    """Noise without people and little overlap: a worse answer, but tracks are whole and the bound holds."""
    rng = np.random.default_rng(seed)
    sigma = np.inf if seed < 4 else 0.7
    prior = 0.05 if seed % 4 == 3 else None
    motion = Motion((4, 4), 1, rng.random((4, 4)) < 0.3, entry_cost=float(seed % 2), sigma=sigma, prior=prior)
    frames = [FrameCosts(rng.permutation([0.0, 1.0]), rng.normal(0.8, 2.0, (2, 16))) for _ in range(12)]
    costs = stack(frames)
    whole = choose_modes(costs, motion)
    modes, tracks, cost, bound = joined(list(choose_in_windows(iter(frames), motion, windows=Windows(4, 1 + seed % 3))))
    assert len(modes) == 12
    assert cost == pytest.approx(cost_by_hand(costs, motion, modes, tracks), abs=1e-9)
    assert cost >= whole.bound - 1e-6
    assert bound <= whole.cost + 1e-6
    doors = motion.doors.ravel()
    for track in tracks.values():
        times = sorted(track)
        assert times == list(range(times[0], times[-1] + 1))
        assert times[0] == 0 or doors[track[times[0]]]
        assert times[-1] == 11 or doors[track[times[-1]]]
        for t in times[:-1]:
            assert track[t + 1] in motion.neighbours[track[t]]
    taken = [(t, cell) for track in tracks.values() for t, cell in track.items()]
    assert len(taken) == len(set(taken))


def test_no_more_than_a_window_is_in_memory():
    """Frames are asked for one window at a time."""
    asked = []

    def frames():
        for t in range(50):
            asked.append(t)
            yield FrameCosts(np.zeros(1), np.ones((1, 4)))

    segments = choose_in_windows(frames(), Motion((2, 2)), windows=Windows(10, 4))
    next(segments)
    assert len(asked) == 11
    assert sum(len(s.modes) for s in segments) == 44


def test_wrong_windows_are_named():
    with pytest.raises(MixfieldError, match="overlap must be less than length"):
        Windows(5, 5)
    with pytest.raises(MixfieldError, match="lag must be"):
        Windows.of_lag(1)
    assert Windows.of_lag(100) == Windows()
    assert list(choose_in_windows([], Motion((2, 2)))) == []


def test_wrong_limits_are_named():
    with pytest.raises(MixfieldError, match="nodes must be"):
        Limits(nodes=0)
    with pytest.raises(MixfieldError, match="seconds must be positive"):
        Limits(seconds=0.0)
