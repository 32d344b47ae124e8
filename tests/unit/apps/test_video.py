"""Video: the right mode is found by its agreement with the frames around it."""

from __future__ import annotations

import numpy as np
import pytest
from moving_pictures import texture, window

import mixfield as mf
from mixfield.apps.mode_path import Consistency, ModePath
from mixfield.apps.video import follow
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
    """A bright square on a moving picture; in ``bad`` frames the heavier mode misses it."""
    picture = np.uint8(texture(rng) // 2)
    square = np.zeros(picture.shape, int)
    square[20:40, 25:50] = 1
    picture[square == 1] += 100
    images, posteriors, truth = [], [], []
    for t in range(frames):
        labels = window(square, t)
        nothing = np.zeros_like(labels)
        images.append(window(picture, t))
        posteriors.append(posterior(labels, nothing, log_z=(0.0, 1.0) if t in bad else (1.0, 0.0)))
        truth.append(labels)
    return images, posteriors, np.array(truth)


@pytest.mark.parametrize("lag", [None, 2])
def test_frames_around_a_mistake_undo_it(lag, rng):
    images, posteriors, truth = film(rng)
    found = mf.segment_video(images, posteriors, consistency=Consistency(lag=lag))
    assert (found.labels == truth).all()
    assert found.chosen_modes.tolist() == [0, 0, 1, 1, 0, 0]
    assert found.starts == (0,)
    assert ((found.probabilities > 0.5) & (found.probabilities < 1)).all()
    assert np.isnan(found.common[0])
    assert (found.common[1:] > 0.5).all()


@pytest.mark.parametrize("lag", [8, 20])
def test_a_lag_that_covers_the_film_is_as_good_as_the_end(lag, rng):
    images, posteriors, _ = film(rng, frames=8, bad=(1, 4, 5))
    whole, lagged = (mf.segment_video(images, posteriors, consistency=Consistency(lag=n)) for n in (None, lag))
    assert whole.chosen_modes.tolist() == lagged.chosen_modes.tolist()
    assert whole.probabilities.tobytes() == lagged.probabilities.tobytes()


def test_two_runs_give_the_same(rng):
    images, posteriors, _ = film(rng)
    one, two = (mf.segment_video(images, posteriors) for _ in range(2))
    assert one.labels.tobytes() == two.labels.tobytes()
    assert one.probabilities.tobytes() == two.probabilities.tobytes()


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
    mixed = images[:3] + [np.uint8(image // 4 + 150) for image in images[3:]]
    found = mf.segment_video(mixed, posteriors)
    assert found.starts == (0, 3)
    assert (found.common[[1, 2, 4, 5]] > 0.5).all()
    alone = mf.segment_video(mixed[3:], posteriors[3:])
    assert (found.labels[3:] == alone.labels).all()
    assert mf.segment_video(mixed, posteriors, consistency=Consistency(least=0.0)).starts == (0,)


def test_a_stream_holds_no_more_than_its_lag(rng):
    images, posteriors, _ = film(rng, frames=9)
    taken = []

    def camera():
        for t, (image, modes) in enumerate(zip(images, posteriors, strict=True)):
            taken.append(t)
            yield image, modes, None, t

    for t, (_, kept) in enumerate(follow(camera(), ModePath(Consistency(lag=2)))):
        assert kept == t
        assert max(taken) <= t + 2


def test_what_is_kept_of_a_frame_comes_back_with_its_decision(rng):
    """Also of missing frames, among others that wait for their turn."""
    images, posteriors, _ = film(rng)
    images[2] = posteriors[2] = None
    names = [f"frame {t}" for t in range(len(images))]
    frames = zip(images, posteriors, [None] * len(images), names, strict=True)
    found = list(follow(frames, ModePath(Consistency(lag=3))))
    assert [name for _, name in found] == names
    assert [name for one, name in found if one.labels is None] == ["frame 2"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda images, posteriors: (images[:3], posteriors), "ends after 3"),
        (lambda *_: ([], []), "at least one"),
        (lambda images, posteriors: ([image[:-1] for image in images], posteriors), "frame 0: .* shape"),
    ],
)
def test_nonsense_is_refused(change, message, rng):
    images, posteriors, _ = film(rng)
    with pytest.raises(MixfieldError, match=message):
        mf.segment_video(*change(images, posteriors))
