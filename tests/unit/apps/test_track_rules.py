"""Tracks that break a constraint are named."""

from __future__ import annotations

import numpy as np

from mixfield.apps.track_rules import violations
from mixfield.temporal.choice import Path
from mixfield.temporal.timegrid import Motion


def test_every_violation_is_named():
    motion = Motion((1, 4), 1, np.array([[True, False, False, False]]))
    fine = Path(0, np.array([1, 2, 3]))
    assert violations({0: fine}, motion, 3) == []
    wrong = {
        "begins in frame 1": {0: Path(1, np.array([2, 2]))},
        "ends in frame 1": {0: Path(0, np.array([2, 2]))},
        "jumps": {0: Path(0, np.array([0, 2, 2]))},
        "share cell 2 in frame 1": {0: fine, 1: Path(0, np.array([3, 2, 2]))},
        "leaves the sequence": {0: Path(0, np.array([2, 2, 2, 2]))},
        "or the ground": {0: Path(0, np.array([3, 4, 3]))},
    }
    for message, tracks in wrong.items():
        assert any(message in sentence for sentence in violations(tracks, motion, 3))
