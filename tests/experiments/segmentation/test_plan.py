"""Which measurements are made, and in which order."""

from __future__ import annotations

from experiments.segmentation.methods import methods
from experiments.segmentation.plan import NETWORKS, SECONDARY, SETS, STEPS, _methods, tasks


def test_all_methods_on_every_seventh_image(photos):
    every = tasks(photos, count=3, images=1)
    fields = len(SETS) * len(NETWORKS) * len(STEPS)
    assert len(every) == fields * len(methods())
    more = tasks(photos, count=3, images=2)  # the second image is not one of every seven
    assert len(more) == len(every) + fields * (3 + len(SECONDARY))


def test_one_size(photos):
    every = tasks(photos, count=3, images=1)
    assert list(tasks(photos, count=3, images=1, step=3)) == [name for name in every if name.endswith("by 3")]


def test_more_segmentations_of_every_seventh_image(photos):
    wanted = {(task.image, task.method): task.wanted for task in tasks(photos, count=20, images=2).values()}
    assert wanted["one", "ours"] == 20
    assert wanted["two", "ours"] == wanted["one", "paper"] == 8


def test_small_images_come_first(photos):
    steps = [task.step for task in tasks(photos, count=3, images=2).values()]
    assert steps[: len(SETS) * len(NETWORKS) * 2 * 3] == [3] * (len(SETS) * len(NETWORKS) * 2 * 3)


def test_every_method_belongs_to_one_part():
    for net in NETWORKS:
        names = [name for part in ("main", "secondary", "rest") for name in _methods(part, net)]
        assert sorted(names) == sorted(methods())
