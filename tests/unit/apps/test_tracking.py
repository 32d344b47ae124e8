"""mf.track: tracks from posteriors, every option, odd inputs."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import mixfield as mf
from experiments.tracking.doubts import doubtful_walk
from mixfield.apps.tracker import CLIP
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
        np.testing.assert_array_equal(tracks.weights[t], walk.posteriors[t].weights)


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
        q = np.clip([mode.marginals[..., 1] for mode in p.modes], CLIP, 1 - CLIP)
        weights = np.clip(p.weights, CLIP, 1 - CLIP)
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
    with pytest.raises(MixfieldError, match=r"frame 0 must be a MixturePosterior, a map of shape \(4, 5\)"):
        mf.track([np.zeros((5, 7))], Ground((4, 5), 1.0))
    with pytest.raises(MixfieldError, match="probabilities"):
        mf.track([np.full((4, 5), 3.0)], Ground((4, 5), 1.0))
    with pytest.raises(MixfieldError, match="NaN"):
        mf.track([posterior(np.full((4, 5), np.nan))], Ground((4, 5), 1.0))


def test_gaps_are_violations(tracks):
    broken = replace(tracks, table=np.delete(tracks.table, 5))
    assert any("gap" in sentence for sentence in broken.violations())


def test_too_fast_is_a_violation(tracks):
    """In metres, from the cells: not through the table of neighbours by which the tracks were made."""
    assert tracks.violations() == []
    table = tracks.table.copy()
    table["column"][1] = (table["column"][0] + 9) % 20
    assert any("moves" in sentence for sentence in replace(tracks, table=table).violations())


@pytest.mark.parametrize(("step", "sentence"), [((2, 2), "moves 0.707 m"), ((0, 2), "moves 0.5 m"), ((1, 1), "")])
def test_limits_of_speed_are_checked_in_metres(step, sentence):
    """At 2.5 m/s and 7 frames a second people move 0.357 m: one cell, or one diagonally (0.354 m)."""
    ground = Ground((40, 40), 0.25)
    maps = np.full((2, 40, 40), 1e-6)
    maps[:, 20, 20] = 0.95
    slow = mf.track(maps, ground, frame_rate=7.0, max_speed=2.5)
    table = slow.table.copy()
    table["row"][1], table["column"][1] = 20 + step[0], 20 + step[1]
    found = replace(slow, table=table).violations()
    assert any(f"{sentence} in a frame, more than 0.354 m" in text for text in found) if sentence else found == []


def test_speed_is_the_same_in_every_direction():
    """At 2.5 m/s and 7 frames a second a diagonal step of two cells of 0.25 m, 4.95 m/s, is too fast."""
    ground = Ground((40, 40), 0.25)
    motion = mf.track([np.zeros((40, 40))], ground, frame_rate=7.0, max_speed=2.5).motion
    assert np.hypot(*motion.steps.T).max() * 0.25 * 7 <= 2.5
    motion = mf.track([np.zeros((40, 40))], ground, frame_rate=7.0, max_speed=4.0).motion
    assert 3.5 < np.hypot(*motion.steps.T).max() * 0.25 * 7 <= 4.0


def test_steps_have_a_price():
    """Two people pass each other; by the price of motion each goes straight on, without it they may swap."""
    ground = Ground((3, 30), 0.25)
    frames = [[(0.1 + 0.2 * t, 0.1, 0.9), (6.0 - 0.2 * t, 0.6, 0.9)] for t in range(30)]
    options = {"frame_rate": 7.0, "doors": "nowhere"}
    priced = mf.track([np.array(f) for f in frames], ground, **options)
    assert priced.motion.sigma * 0.25 == pytest.approx(np.hypot(0.9 / 7, 0.2))
    free = mf.track([np.array(f) for f in frames], ground, step_deviation=np.inf, **options)
    assert priced.cost > free.cost
    assert [np.ptp(rows["y"]) < 0.3 for rows in priced.by_identity.values()] == [True, True]


def test_with_a_prior_a_hidden_person_stays_the_same():
    """A person is hidden for two frames: the cells there have the prior.  Two tracks cost less than to pay it twice."""
    ground, prior = Ground((3, 12), 0.25), 0.005
    q = np.full((8, 3, 12), prior)
    for t in (0, 1, 2, 5, 6, 7):
        q[t] = 1e-6
        q[t, 1, 2 + t] = 0.99
    frames = [mf.MixturePosterior((mf.Mode(np.stack([1 - p, p], -1), 0.0),)) for p in q]
    options = {"frame_rate": 4.0, "doors": "anywhere"}
    independent, tracks = (mf.track(frames, ground, prior=p, **options) for p in (None, prior))
    assert [len(rows) for rows in independent.by_identity.values()] == [3, 3]
    assert [len(rows) for rows in tracks.by_identity.values()] == [8]
    assert tracks.cost == pytest.approx(tracks.bound)


# ---------------------------------------------------------------- maps and detections


def blobs(ground, points, sigma=0.25, top=0.95):
    """A heat map with a blob around each point."""
    squared = ((ground.centres()[..., None, :] - np.asarray(points)) ** 2).sum(-1)
    return (top * np.exp(-squared / (2 * sigma**2))).max(-1)


def walkers(count=3, frames=15):
    """(frames, count, 2) people who walk side by side, 1 m apart, at 1.4 m/s and 7 frames a second."""
    x = 0.63 + 0.2 * np.arange(frames)  # never between two cells
    return np.stack([np.stack([x, np.full(frames, 0.6 + k)], axis=-1) for k in range(count)], axis=1)


def test_blobs_and_single_cells_give_the_same_tracks():
    ground = Ground((20, 30), 0.25)
    truth = walkers()
    heat = np.array([blobs(ground, points) for points in truth])
    cells = np.full_like(heat, 1e-6)
    for t, points in enumerate(truth):
        column, row = np.floor(points / 0.25).astype(int).T
        cells[t, row, column] = 0.95
    first, second = (mf.track(maps, ground, frame_rate=7.0) for maps in (heat, cells))
    for name in ("identity", "frame", "row", "column"):
        np.testing.assert_array_equal(first.table[name], second.table[name])
    assert len(first.by_identity) == 3


def test_detections_give_exact_positions():
    truth = walkers()
    tracks = mf.track(list(truth), Ground((20, 30), 0.25), frame_rate=7.0)
    assert mf.metrics.moda(dict(enumerate(truth)), tracks.positions(), 1e-6) == 1.0


def test_missed_detections_cost_by_recall():
    truth = list(walkers(1))
    truth[7] = np.zeros((0, 2))
    tracks = mf.track(truth, Ground((20, 30), 0.25), frame_rate=7.0, doors="nowhere")
    assert len(tracks.table) == 15
    assert tracks.table["confidence"][7] == pytest.approx(0.1)
    assert mf.track(truth, Ground((20, 30), 0.25), frame_rate=7.0, doors="nowhere", recall=0.99).cost > tracks.cost


def test_boxes_through_a_homography_without_a_scene():
    """Pixels are 100 times metres: boxes of 20 x 60 pixels whose lower edge is at the feet."""
    truth = walkers()
    boxes = [np.column_stack([100 * p - [10, 60], 100 * p + [10, 0], np.full(len(p), 0.9)]) for p in truth]
    homography = np.diag([100.0, 100.0, 1.0])
    tracks = mf.track(boxes, homography=homography, frame_rate=7.0)
    assert mf.metrics.moda(dict(enumerate(truth)), tracks.positions(), 1e-6) == 1.0
    with pytest.raises(MixfieldError, match="give a scene of from_cameras, or a homography"):
        mf.track(boxes, Ground((20, 30), 0.25))
    with pytest.raises(MixfieldError, match=r"homography must have shape \(3, 3\)"):
        mf.track(boxes, homography=np.eye(4))
    with pytest.raises(MixfieldError, match="needs a scene"):
        mf.track([np.zeros((0, 2))])
