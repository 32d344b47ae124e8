"""Small scenes for tests of people: few cells, images of a few hundred pixels."""

from __future__ import annotations

from dataclasses import replace

import naive
import numpy as np

import mixfield as mf
from mixfield.scene import Ground
from mixfield.scene.view import View


def random_room(rng, shape=(2, 3), n_views=2, size=(19, 14), hidden=0.2, **options):
    """A scene with random rectangles, some cells hidden from some views."""
    n, (width, height) = shape[0] * shape[1], size
    views = []
    for _ in range(n_views):
        left, top = rng.integers(0, width - 5, n), rng.integers(0, height - 6, n)
        boxes = np.stack([left, top, left + rng.integers(2, 6, n), top + rng.integers(3, 7, n)], axis=1)
        boxes[rng.random(n) < hidden] = 0
        views.append(View(width, height, boxes))
    if not any(view.visible.any() for view in views):
        views[0] = View(width, height, np.tile([2, 2, 6, 8], (n, 1)))
    options.setdefault("variance", (0.05,) * n_views)
    return mf.Scene(Ground(shape, 0.5), tuple(views), prior=0.1, **options)


def random_room_of_heights(rng, shape=(2, 3), n_views=2, size=(19, 14), **options):
    """`random_room` in which people have one of three heights: nested rectangles with common feet."""
    room = random_room(rng, shape, n_views, size, **options)
    views = []
    for view in room.views:
        sizes = np.repeat(view.boxes[:, None], 3, axis=1)
        sizes[:, 0, 1] += 1
        sizes[:, 2, :3] += np.array([-1, -2, 1])
        views.append(View(view.width, view.height, view.boxes, sizes=np.where(view.visible[:, None, None], sizes, 0)))
    return replace(room, views=tuple(views), heights=(0.3, 0.5, 0.2))


def random_masks(rng, scene):
    """Soft masks."""
    return [np.clip(rng.random((view.height, view.width)) * 1.4 - 0.4, 0, 1) for view in scene.views]


def seen(scene, people):
    """The masks of people at the given cells, without noise."""
    masks = []
    for view in scene.views:
        image = np.zeros((view.height, view.width), bool)
        for n in people:
            left, top, right, bottom = view.boxes[n]
            image[top:bottom, left:right] = True
        masks.append(image)
    return masks


def naive_views(energy):
    """Boxes and mask of each view, as the functions of `naive` take them."""
    boxes = [view.boxes if view.sizes is None else view.sizes for view in energy.scene.views]
    return [(one.tolist(), mask) for one, mask in zip(boxes, energy.masks, strict=True)]


def naive_iteration(energy, bias, temperature, *, tolerance, limit):
    """POM's iteration by `naive`: the probabilities of empty cells, and the updates made."""
    return naive.silhouette_ascend(
        naive_views(energy),
        energy.start.reshape(-1, 2)[:, 0],
        bias + energy.prior_costs,
        temperature,
        energy.damping,
        tolerance,
        5,
        limit,
        weights=[1 / (2 * v) for v in energy.variance],
        power=2,
        noise=0.01,
    )
