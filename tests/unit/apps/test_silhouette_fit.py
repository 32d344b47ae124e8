"""The size of silhouettes, from masks that are drawn with known margins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rooms import seen

import mixfield as mf
from mixfield.apps.silhouette_fit import STEP, Mismatch, descend, fit_silhouettes

MARGINS = ((0.06, 0.1, 0.04), (-0.04, -0.08, 0.0), (0.0, 0.0, 0.0))  # sides, top, bottom of three views


@pytest.fixture(scope="module")
def room():
    return replace(mf.datasets.walking_people(0, 3, 1, setting="easy").scene, form="local")


@pytest.fixture(scope="module")
def people(room):
    rng = np.random.default_rng(5)
    return [rng.choice(room.ground.n, 4, replace=False) for _ in range(8)]


def grown(scene, margins):
    return replace(scene, views=tuple(v.grown(*m) for v, m in zip(scene.views, margins, strict=True)))


def test_descent_finds_the_margins_of_known_people(room, people):
    masks = [seen(grown(room, MARGINS), cells) for cells in people]
    for c, margins in enumerate(MARGINS):
        view = room.views[c]
        mismatch = Mismatch(view, [n[view.visible[n]] for n in people], [one[c].astype(float) for one in masks])
        assert mismatch(margins) == 0 < mismatch((0.2, 0.2, 0.2))
        assert descend(mismatch, (0.0, 0.0, 0.0), (0, 1, 2)) == pytest.approx(margins, abs=STEP + 1e-9)


@pytest.mark.parametrize("margins", [(0.06, 0.1, 0.04), (-0.06, -0.14, 0.0)])
def test_fitted_views_find_people_as_well_as_the_true_ones(room, people, margins):
    true = grown(room, [margins] * 3)
    masks = [seen(true, cells) for cells in people]
    wrong = errors(true, masks, people)
    assert errors(fit_silhouettes(room, masks), masks, people) == wrong < errors(room, masks, people)


def test_one_view_keeps_its_feet(room, people):
    one = room.of_views((0,))
    fitted = fit_silhouettes(one, [seen(grown(one, [(0.04, 0.1, 0.06)]), cells) for cells in people])
    visible = one.views[0].visible
    np.testing.assert_array_equal(fitted.views[0].boxes[visible, 3], one.views[0].boxes[visible, 3])


def test_unobserved_pixels_do_not_count(room):
    view = replace(room.views[0], observed=np.zeros((room.views[0].height, room.views[0].width)))
    assert Mismatch(view, [np.array([3])], [np.ones((view.height, view.width))])((0.0, 0.0, 0.0)) == 0.0


def errors(scene, frames, people):
    """Number of wrong cells of the mean fields."""
    found = [mf.mean_field(mf.Occupancy(scene, masks)).marginals[..., 1].ravel() > 0.5 for masks in frames]
    return sum(len(set(np.flatnonzero(one)) ^ set(cells.tolist())) for one, cells in zip(found, people, strict=True))
