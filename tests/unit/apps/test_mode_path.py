"""The choice of modes: what speaks for a mode, and the path that enumeration finds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from mode_sequences import total_cost

import mixfield as mf
from mixfield.apps import FieldModel
from mixfield.apps.mode_path import UNKNOWN, Consistency, FrameModes, ModePath
from mixfield.errors import MixfieldError
from mixfield.temporal.trellis import mode_probabilities

SHAPE = (24, 32)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def posterior(*labelings):
    """Modes that are nearly sure of given labels; the first is mean field."""
    modes = [
        mf.Mode(marginals=np.where(np.eye(2, dtype=bool)[labels], 0.95, 0.05), log_z=-float(k))
        for k, labels in enumerate(labelings)
    ]
    return mf.MixturePosterior(tuple(modes))


def scene(rng, shift=0):
    """A red box on blue ground, both noisy; its labels."""
    labels = np.zeros(SHAPE, int)
    labels[6:16, 4 + shift : 16 + shift] = 1
    colours = np.where(labels[..., None] == 1, (200, 60, 40), (40, 60, 200))
    return np.uint8(colours + rng.integers(-20, 20, (*SHAPE, 3))), labels


def film(rng, frames=5):
    """Frames with three modes each, in random order of right, empty and too large."""
    found = []
    for t in range(frames):
        image, labels = scene(rng, t)
        large = labels.copy()
        large[16:22, 4:20] = 1
        modes = [labels, 0 * labels, large]
        order = rng.permutation(3)
        found.append((image, posterior(*(modes[k] for k in order)), labels))
    return found


def test_the_choice_is_the_best_of_all_sequences(rng):
    frames = film(rng)
    path, how = ModePath(), Consistency()
    assert not any(path.advance(image, modes) for image, modes, _ in frames)
    choices = path.finish()
    seen = [FrameModes.of(image, modes) for image, modes, _ in frames]
    costs = []
    for t, one in enumerate(seen):
        others = sum(other.histograms for s, other in enumerate(seen) if s != t)
        costs.append(how.mode_costs(one.network, one.likeness(others), one.root))
    steps = [how.step_costs(before.gains(after)) for before, after in itertools.pairwise(seen)]
    best = min(itertools.product(range(3), repeat=len(frames)), key=lambda modes: total_cost(modes, costs, steps))
    assert tuple(choice.mode for choice in choices) == best
    for choice, expected in zip(choices, mode_probabilities(costs, steps), strict=True):
        assert choice.probabilities == pytest.approx(expected, rel=1e-4)


def test_evidence_of_others_corrects_a_frame(rng):
    path = ModePath()
    right = []
    for t in range(5):
        image, labels = scene(rng, t)
        modes = [0 * labels, labels] if t == 2 else [labels, 0 * labels]
        path.advance(image, posterior(*modes))
        right.append(int(t == 2))
    choices = path.finish()
    assert [choice.mode for choice in choices] == right
    for choice in choices:
        assert choice.probabilities.sum() == pytest.approx(1)
        assert choice.probabilities.argmax() == choice.mode


def test_decisions_do_not_depend_on_frames_after_the_lag(rng):
    frames = film(rng, 7)
    for lag in (0, 1, 3):
        whole = ModePath(Consistency(lag=lag))
        decided = [[choice.mode for choice in whole.advance(image, modes)] for image, modes, _ in frames]
        for end in range(1, 7):
            again = ModePath(Consistency(lag=lag))
            assert [[c.mode for c in again.advance(image, modes)] for image, modes, _ in frames[:end]] == decided[:end]
        assert sum(map(len, decided)) + len(whole.finish()) == 7


def test_later_frames_continue_from_a_decision(rng):
    """The step from the decided mode counts for the next frame."""
    path = ModePath(Consistency(lag=0, colour=0.0, caution=0.1, shape=10.0))
    image, labels = scene(rng)
    wide = np.zeros(SHAPE, int)
    wide[10:12, 2:30] = 1
    assert path.advance(image, posterior(wide))[0].mode == 0
    (choice,) = path.advance(image, posterior(labels, wide), np.stack([1 - labels, labels], -1) * 0.0 + 0.5)
    assert choice.mode == 1  # as wide as before


def test_the_network_speaks_by_scores_or_calibration(rng):
    image, labels = scene(rng)
    modes = posterior(0 * labels, labels)
    scores = np.stack([1 - 0.8 * labels, 0.8 * labels], -1)
    assert FrameModes.of(image, modes).network.tolist() == [UNKNOWN, UNKNOWN]
    assert FrameModes.of(image, modes, scores).network[1] == pytest.approx(np.log(4))
    calibrated = FieldModel.default().calibrate(modes, np.float32(scores))
    given = FrameModes.of(image, calibrated, scores).network
    assert FrameModes.of(image, calibrated).network == pytest.approx(given, abs=1e-5)


@pytest.mark.parametrize(
    ("option", "value"), [("network", 5.0), ("colour", 0.0), ("shape", 0.0), ("saturation", 0.01), ("caution", 4.0)]
)
def test_every_option_of_consistency_matters(option, value, rng):
    def probabilities(consistency):
        path = ModePath(consistency)
        for image, modes, _ in frames:
            path.advance(image, modes)
        return np.concatenate([choice.probabilities for choice in path.finish()])

    frames = film(rng)
    assert np.abs(probabilities(Consistency()) - probabilities(Consistency(**{option: value}))).max() > 0.01


def test_frames_of_another_size_are_refused(rng):
    path = ModePath()
    image, labels = scene(rng)
    path.advance(image, posterior(labels))
    sizes = r"got \(H, W\) = \(20, 32\), 2 labels and \d+ bins of colour after \(H, W\) = \(24, 32\), 2 labels"
    with pytest.raises(MixfieldError, match=sizes):
        path.advance(image[:20], posterior(labels[:20]))


def test_wrong_scores_are_refused(rng):
    image, labels = scene(rng)
    with pytest.raises(MixfieldError, match="scores"):
        FrameModes.of(image, posterior(labels), np.ones((*SHAPE, 3)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"network": -1.0},
        {"colour": float("inf")},
        {"shape": float("nan")},
        {"saturation": -0.1},
        {"caution": float("nan")},
        {"least": 1.5},
        {"least": -0.1},
        {"lag": -1},
        {"lag": 1.5},
    ],
    ids=str,
)
def test_nonsense_is_named(wrong):
    with pytest.raises(MixfieldError, match=next(iter(wrong))):
        Consistency(**wrong)
