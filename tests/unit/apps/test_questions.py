"""Questions behind modes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from mixfield.apps.questions import Question, settled_labels


def test_a_question_in_words():
    question = Question(1, np.ones((2, 2), bool), 0, 1, 0.62, 0.04)
    assert question.text(["chair", "sofa"]) == "is this region chair or sofa? 38 : 62, 4 % of the image"
    assert "label 0 or label 1" in question.text()


def test_settled_labels_take_probable_changes_that_do_not_overlap():
    root, left, both = (np.array([row], int) for row in ([0, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 1]))
    modes = [
        SimpleNamespace(labeling=lambda labels=labels: labels, marginals=np.eye(2)[labels])
        for labels in (root, left, both)
    ]

    def asked(first, second):
        calibration = SimpleNamespace(answers=[np.nan, first, second])
        posterior = SimpleNamespace(modes=modes, root_mode=0, calibration=calibration)
        return settled_labels(posterior).tolist()

    assert asked(0.8, 0.9) == [[0, 1, 1, 1]]
    assert asked(0.9, 0.8) == [[1, 1, 0, 0]]
    assert asked(0.6, 0.7) == [[0, 0, 0, 0]]
