"""Misses behind the sign: only people of whom its board hides a part count."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from experiments.people.sign import SIGN, misses_behind
from mixfield.scene.view import View


class Upright:
    """A camera in which a person at x, y is 20 pixels wide and 80 tall, with the feet at that pixel."""

    def silhouettes(self, feet, _):
        return np.stack([feet[:, 0] - 10, feet[:, 1] - 80, feet[:, 0] + 10, feet[:, 1]], axis=-1)


def test_only_people_behind_the_board_count():
    rows, columns = SIGN
    behind = [(columns.start + columns.stop) / 2, rows.stop + 20.0]
    beside = [columns.stop + 100.0, rows.stop + 20.0]
    scene = SimpleNamespace(views=[View(768, 576, np.zeros((1, 4), int))], cameras=[Upright()])
    recording, truth = SimpleNamespace(scene=lambda: scene), {7: np.array([behind, beside])}
    nobody = np.zeros((0, 2))
    assert misses_behind(recording, truth, {7: nobody}, 1.0) == 1
    assert misses_behind(recording, truth, {7: np.array([beside])}, 1.0) == 1
    assert misses_behind(recording, truth, {7: np.array([behind])}, 1.0) == 0
