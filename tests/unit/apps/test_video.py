"""Video: the right mode is found by its agreement with the frames around it."""

from __future__ import annotations

import numpy as np
import pytest
from moving_pictures import texture, window

import mixfield as mf
from mixfield.apps.video import Consistency, ModePath, changes, follow
from mixfield.errors import MixfieldError


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def posterior(*labelings, log_z, n_labels=2, certainty=0.95):
    """Modes that are nearly sure of given labels."""
    rest = (1 - certainty) / (n_labels - 1)
    modes = [
        mf.Mode(marginals=np.where(np.eye(n_labels, dtype=bool)[labels], certainty, rest), log_z=bound)
        for labels, bound in zip(labelings, log_z, strict=True)
    ]
    return mf.MixturePosterior(tuple(sorted(modes, key=lambda mode: -mode.log_z)))


def film(rng, frames=6, bad=(2, 3)):
    """A square on a moving picture; in ``bad`` frames the heavier mode misses it."""
    picture = texture(rng)
    square = np.zeros(picture.shape, int)
    square[20:40, 25:50] = 1
    images, posteriors, truth = [], [], []
    for t in range(frames):
        labels = window(square, t)
        nothing = np.zeros_like(labels)
        images.append(window(picture, t))
        posteriors.append(posterior(labels, nothing, log_z=(0.0, 1.0) if t in bad else (1.0, 0.0)))
        truth.append(labels)
    return images, posteriors, np.array(truth)


def test_changes_are_the_share_of_points_that_differ(rng):
    before, after = rng.dirichlet(np.ones(3), (2, 50)), rng.dirichlet(np.ones(3), (4, 50))
    expected = 1 - np.einsum("kpl,mpl->km", before, after) / 50
    assert changes(before, after) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("lag", [None, 2])
def test_frames_around_a_mistake_undo_it(lag, rng):
    images, posteriors, truth = film(rng)
    found = mf.segment_video(images, posteriors, consistency=Consistency(lag=lag))
    assert (found.labels == truth).all()
    assert found.chosen_modes.tolist() == [0, 0, 1, 1, 0, 0]
    assert found.starts == (0,)
    assert np.isnan(found.matched[0])
    assert (found.matched[1:] > 0.3).all()


def test_two_runs_give_the_same(rng):
    images, posteriors, _ = film(rng)
    one, two = (mf.segment_video(images, posteriors) for _ in range(2))
    assert one.labels.tobytes() == two.labels.tobytes()
    assert one.matched.tobytes() == two.matched.tobytes()


def test_relabelling_relabels(rng):
    images, posteriors, _ = film(rng)
    swapped = [
        mf.MixturePosterior(tuple(mf.Mode(marginals=m.marginals[..., ::-1], log_z=m.log_z) for m in p.modes))
        for p in posteriors
    ]
    one, two = mf.segment_video(images, posteriors), mf.segment_video(images, swapped)
    assert (one.labels == 1 - two.labels).all()


def test_a_missing_frame_breaks_the_chain(rng):
    images, posteriors, _ = film(rng, bad=(3,))
    images[2] = posteriors[2] = None
    found = mf.segment_video(images, posteriors)
    assert found.chosen_modes[2] == -1
    assert (found.labels[2] == -1).all()
    assert found.starts == (0, 3)
    alone = mf.segment_video(images[3:], posteriors[3:])
    assert (found.labels[3:] == alone.labels).all()


def test_a_cut_breaks_the_chain(rng):
    images, posteriors, _ = film(rng)
    other, _, _ = film(np.random.default_rng(5))
    mixed = images[:3] + other[3:]
    found = mf.segment_video(mixed, posteriors, consistency=Consistency(least=0.3))
    assert found.starts == (0, 3)


def test_a_stream_holds_no_more_than_its_lag(rng):
    images, posteriors, _ = film(rng, frames=9)
    taken = []

    def camera():
        for t, (image, modes) in enumerate(zip(images, posteriors, strict=True)):
            taken.append(t)
            yield image, modes, None

    for t, _ in enumerate(follow(camera(), ModePath(Consistency(lag=2)))):
        assert max(taken) <= t + 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda images, posteriors: (images[:3], posteriors), "ends after 3"),
        (lambda *_: ([], []), "at least one"),
        (lambda images, posteriors: ([image[:-1] for image in images], posteriors), "shape"),
    ],
)
def test_nonsense_is_refused(change, message, rng):
    images, posteriors, _ = film(rng)
    with pytest.raises(MixfieldError, match=message):
        mf.segment_video(*change(images, posteriors))


@pytest.mark.parametrize(
    "wrong",
    [{"stiffness": 0.0}, {"caution": float("nan")}, {"least": 1.5}, {"least": -0.1}, {"lag": -1}, {"lag": 1.5}],
    ids=str,
)
def test_nonsense_of_the_comparison_is_named(wrong):
    with pytest.raises(MixfieldError, match=next(iter(wrong))):
        Consistency(**wrong)


def test_weights_may_not_be_negative(rng):
    images, posteriors, _ = film(rng)
    weights = [-np.ones(len(posterior.modes)) for posterior in posteriors]
    with pytest.raises(MixfieldError, match="negative"):
        mf.segment_video(images, posteriors, weights=weights)
