"""print() of public objects is short: no array is listed."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from experiments.tracking.doubts import doubtful_walk


@pytest.fixture(scope="module")
def objects():
    graph = mf.datasets.four_zones(8)
    post = mf.infer(graph, 2)
    probs, image = np.full((40, 50, 3), 1 / 3), np.zeros((40, 50, 3), np.uint8)
    people = mf.datasets.walking_people(n_people=1, n_cameras=1, n_frames=1, rng=0)
    walk = doubtful_walk(12, shape=(10, 10), people=2, rng=3)
    return {
        "MixturePosterior": post,
        "Mode": post.modes[0],
        "Cardinality": post.modes[0].constraints[0],
        "FactorGraph": graph,
        "DenseCRF": mf.DenseCRF.from_probabilities(probs, image),
        "Bilateral": mf.Bilateral(image, 5, 5, 1.0),
        "Exact": mf.exact(graph),
        "Scene": people.scene,
        "View": people.scene.views[0],
        "Occupancy": mf.Occupancy(people.scene, list(people.masks[0])),
        "Walk": people,
        "Tracks": mf.track(walk.posteriors, walk.ground),
        "VideoSegmentation": mf.segment_video([image[..., 0]] * 2, [_uniform((40, 50))] * 2),
    }


def _uniform(shape):
    return mf.MixturePosterior((mf.Mode(np.full((*shape, 2), 0.5), 0.0),))


def test_texts_are_short(objects):
    for name, value in objects.items():
        for text in (repr(value), str(value)):
            assert len(text) < 200, name
            assert "\n" not in text
            assert "array(" not in text
        assert repr(value).startswith(f"{name}(")


def test_the_text_of_a_posterior():
    modes = tuple(mf.Mode(np.full((4, 5, 3), 1 / 3), -k * np.log(2)) for k in range(2))
    post = mf.MixturePosterior(modes, notes=("too few modes",))
    assert repr(post) == (
        "MixturePosterior(2 modes of (4, 5) variables with 3 labels, weights=[0.6667, 0.3333], log_z=0.405465, "
        "notes=['too few modes'])"
    )
    many = mf.MixturePosterior(modes * 10)
    assert "20 modes" in repr(many)
    assert "...]" in repr(many)
