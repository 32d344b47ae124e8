"""mf.track: tracks from posteriors, every option, odd inputs."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import mixfield as mf
from experiments.tracking.doubts import doubtful_walk
from mixfield.errors import MixfieldError
from mixfield.scene import Ground


def posterior(*maps, weights=None):
    """A posterior whose modes have these probabilities of presence."""
    weights = weights or [1.0] * len(maps)
    stacked = [np.stack([1.0 - np.asarray(q), np.asarray(q)], axis=-1) for q in maps]
    return mf.MixturePosterior(tuple(mf.Mode(q, float(np.log(w))) for q, w in zip(stacked, weights, strict=True)))


def person_at(row, column, shape=(4, 5), q=0.95):
    field = np.full(shape, 0.01)
    field[row, column] = q
    return field


@pytest.fixture(scope="module")
def walk():
    return doubtful_walk(40, shape=(20, 20), people=4, rng=5)


@pytest.fixture(scope="module")
def tracks(walk):
    return mf.track(walk.posteriors, walk.ground)


def test_tracks_keep_the_rules_and_the_certificate(walk, tracks):
    assert tracks.violations() == []
    assert tracks.bound <= tracks.cost
    assert tracks.gap < 0.5
    assert len(tracks.chosen_modes) == tracks.frames == 40
    for t, k in enumerate(tracks.chosen_modes):
        assert k < len(walk.posteriors[t].modes)


def test_confidence_and_place_come_from_the_chosen_mode(walk, tracks):
    for record in tracks.table:
        mode = walk.posteriors[record["frame"]].modes[tracks.chosen_modes[record["frame"]]]
        assert record["confidence"] == mode.marginals[record["row"], record["column"], 1]
        x, y = walk.ground.centres()[record["row"], record["column"]]
        assert (record["x"], record["y"]) == (x, y)


def test_cost_is_the_log_probability_of_the_posteriors(walk, tracks):
    """The cost is -log prod_t m_k Q_k(x_t), plus the price of the tracks, less the cost of nobody."""
    total = 0.0
    for t, p in enumerate(walk.posteriors):
        q = np.clip([mode.marginals[..., 1] for mode in p.modes], 1e-6, 1 - 1e-6)
        weights = np.clip(p.weights, 1e-6, 1 - 1e-6)
        here = tracks.table[tracks.table["frame"] == t]
        occupied = np.zeros(walk.ground.shape, bool)
        occupied[here["row"], here["column"]] = True
        k = tracks.chosen_modes[t]
        total -= np.log(weights[k]) + np.log(np.where(occupied, q[k], 1 - q[k])).sum()
        total -= (-np.log(weights) - np.log1p(-q).sum((1, 2))).min()
    assert tracks.cost == pytest.approx(total + 5.0 * len(tracks.by_identity), abs=1e-6)


def test_tracks_beat_the_heaviest_mode_and_the_printed_price(walk, tracks):
    """Fewer mistakes than the heaviest modes alone; the printed price reports people who are not there."""
    truth = {t: np.stack([walk.truth[walk.truth["frame"] == t][c] for c in "xy"], axis=-1) for t in range(40)}
    centres = walk.ground.centres()
    heaviest = {t: centres[p.modes[0].marginals[..., 1] > 0.5] for t, p in enumerate(walk.posteriors)}
    printed = mf.track(walk.posteriors, walk.ground, price=mf.temporal.printed_price)
    score = {
        name: mf.metrics.moda(truth, found, 1.0)
        for name, found in (("heaviest", heaviest), ("ours", tracks.positions()), ("printed", printed.positions()))
    }
    assert score["ours"] > score["heaviest"] + 0.05
    assert score["ours"] > score["printed"]
    assert len(tracks.by_identity) == 4 < len(printed.by_identity)


def test_windows_and_streams_give_the_same_tracks(walk, tracks):
    streamed = mf.track(iter(walk.posteriors), SimpleNamespace(ground=walk.ground), windows=mf.temporal.Windows(25, 15))
    assert streamed.cost == pytest.approx(tracks.cost, rel=1e-9)
    np.testing.assert_array_equal(streamed.chosen_modes, tracks.chosen_modes)
    assert streamed.violations() == []
    assert streamed.bound <= tracks.cost + 1e-6
    np.testing.assert_array_equal(streamed.table["confidence"], tracks.table["confidence"])


def test_no_more_than_a_window_is_in_memory(walk):
    """A frame is asked for only when the segment before it is done."""
    asked, solved = [], [0]

    def posteriors():
        for t, posterior in enumerate(walk.posteriors):
            asked.append((t, solved[-1]))
            yield posterior

    mf.track(posteriors(), walk.ground, windows=mf.temporal.Windows(10, 4), progress=solved.append)
    assert len(asked) == 40
    assert all(t <= done + 10 for t, done in asked)


def test_same_input_same_bytes(walk, tracks):
    again = mf.track(walk.posteriors, walk.ground)
    assert again.table.tobytes() == tracks.table.tobytes()


# ---------------------------------------------------------------- every option changes something


def test_speed_limits_the_step():
    """Two cells per frame is too fast without a frame rate, and at 1 m/s; not at 2 m/s."""
    ground = Ground((1, 9), 0.5)
    frames = [posterior(person_at(0, 2 * t, (1, 9), q=0.999)) for t in range(5)]
    far = {"frame_rate": 2.0, "max_speed": 2.0}
    assert len(mf.track(frames, ground, doors="nowhere", **far).by_identity) == 1
    assert mf.track(frames, ground, **far).motion.radius == 2
    assert mf.track(frames, ground, frame_rate=2.0, max_speed=1.0).motion.radius == 1
    assert mf.track(frames, ground).motion.radius == 1
    assert mf.track(frames, ground, doors="nowhere").cost > mf.track(frames, ground, doors="nowhere", **far).cost
    assert mf.track(frames, ground, **far).summary()["fastest"] == pytest.approx(2.0)


def test_doors():
    """Somebody appears in the middle: that needs a door there."""
    ground = Ground((5, 5), 1.0)
    frames = [posterior(person_at(2, 2, (5, 5), q=0.999 if 3 <= t < 6 else 0.001)) for t in range(9)]
    door = np.zeros((5, 5), bool)
    door[2, 2] = True
    for doors, count in (("nowhere", 0), ("anywhere", 1), (door, 1)):
        tracks = mf.track(frames, ground, doors=doors)
        assert len(tracks.by_identity) == count
        assert tracks.violations() == []


def test_entry_cost_must_be_earned():
    frames = [posterior(person_at(1, 1, q=0.9)) for _ in range(3)]
    earned = 3 * np.log(9)
    assert mf.track(frames, Ground((4, 5), 1.0), entry_cost=earned - 0.1).cost == pytest.approx(-0.1)
    assert mf.track(frames, Ground((4, 5), 1.0), entry_cost=earned + 0.1).cost == 0.0


def test_clip_limits_what_a_certain_cell_earns():
    frames = [posterior(person_at(1, 1, q=1.0))]
    for clip in (1e-2, 1e-6):
        assert mf.track(frames, Ground((4, 5), 1.0), clip=clip, entry_cost=0.0).cost == pytest.approx(
            np.log(clip / (1 - clip))
        )


# ---------------------------------------------------------------- odd inputs


def test_nothing_at_all():
    tracks = mf.track([], Ground((4, 5), 1.0))
    assert (tracks.frames, tracks.cost, tracks.bound, tracks.gap) == (0, 0.0, 0.0, 0.0)
    assert len(tracks.table) == 0
    assert tracks.summary()["tracks"] == 0


def test_nobody():
    tracks = mf.track([posterior(np.full((4, 5), 0.01))] * 6, Ground((4, 5), 1.0))
    assert len(tracks.table) == 0
    assert tracks.cost == tracks.bound == 0.0
    assert tracks.positions()[3].shape == (0, 2)
    assert tracks.violations() == []


def test_everybody_everywhere():
    tracks = mf.track([posterior(np.ones((4, 5)), np.zeros((4, 5)))] * 3, Ground((4, 5), 1.0))
    assert tracks.violations() == []
    assert len(tracks.table) in (0, 60)


def test_frames_with_one_and_with_many_modes():
    one, two = posterior(person_at(1, 1)), posterior(person_at(1, 1), person_at(2, 4), weights=[0.4, 0.6])
    tracks = mf.track([one, two, one], Ground((4, 5), 1.0), doors="nowhere")
    assert tracks.chosen_modes.tolist() == [0, 0, 0]
    assert len(tracks.by_identity) == 1


def test_impossible_modes_have_no_weight():
    """All modes with bound -inf: equal weights, and an answer."""
    field = np.stack([1 - person_at(1, 1), person_at(1, 1)], axis=-1)
    hopeless = mf.MixturePosterior((mf.Mode(field, -np.inf), mf.Mode(field, -np.inf)))
    assert len(mf.track([hopeless] * 3, Ground((4, 5), 1.0)).by_identity) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clip": 0.7}, "clip must lie"),
        ({"doors": "window"}, "doors must be one of"),
        ({"doors": np.ones((2, 2), bool)}, "doors must have shape"),
        ({"frame_rate": 0.0}, "frame_rate must be"),
        ({"frame_rate": 5.0, "max_speed": -1.0}, "max_speed must be"),
        ({"time_limit": 0.0}, "time_limit must be"),
        ({"entry_cost": -3.0}, "entry_cost must be"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(MixfieldError, match=message):
        mf.track([posterior(person_at(1, 1))], Ground((4, 5), 1.0), **options)


def test_bad_posteriors():
    with pytest.raises(MixfieldError, match="posterior of frame 0 must have shape"):
        mf.track([posterior(np.full((3, 3), 0.1))], Ground((4, 5), 1.0))
    with pytest.raises(MixfieldError, match="one MixturePosterior per frame, got ndarray for frame 0"):
        mf.track([np.zeros((4, 5))], Ground((4, 5), 1.0))
    with pytest.raises(MixfieldError, match="NaN"):
        mf.track([posterior(np.full((4, 5), np.nan))], Ground((4, 5), 1.0))


def test_gaps_are_violations(tracks):
    broken = replace(tracks, table=np.delete(tracks.table, 5))
    assert any("gap" in sentence for sentence in broken.violations())
