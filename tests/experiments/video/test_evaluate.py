"""Choice of one mode per frame from measurements."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.video.evaluate import evaluate
from mixfield.apps import Consistency

RIGHT, WRONG = [[8, 0], [0, 8]], [[8, 0], [8, 0]]


def _frame(t, n_modes=2, jump=0.0, kind="davis", sequence="one"):
    """Mean field (mode 0) is wrong, mode 1 is right; the ranking prefers neither."""
    method = {"counts": [WRONG, RIGHT][:n_modes], "features": np.zeros((n_modes, 7)).tolist(), "root": 0}
    method |= {"log_z": [0.0, -50.0][:n_modes], "steps": (jump * (1 - np.eye(n_modes))).tolist()}
    row = {"kind": kind, "sequence": sequence, "frame": str(t), "matched": 1.0 if t else None}
    return row | {"modes": method, "clamped": method}


def test_oracle_and_mean_field():
    found = evaluate([_frame(t) for t in range(3)])
    assert list(found) == ["davis one", "davis"]
    assert found["davis one"]["best mode"] == 100
    assert found["davis one"]["mean field"] == pytest.approx(25)
    assert found["davis one"]["modes + temporal"] == pytest.approx(25)  # caution
    assert found["davis one"]["MaxW + temporal"] == pytest.approx(25)  # weights


def test_negative_caution_leaves_mean_field():
    bold = Consistency(caution=-1.0)
    assert evaluate([_frame(t) for t in range(3)], consistency=bold)["davis one"]["modes + temporal"] == 100


def test_stiffness_keeps_the_labels():
    """The ranking of the second frame prefers mode 1; with a cost of changes, its neighbours take this mode too."""
    rows = [_frame(t, jump=1.0) for t in range(3)]
    rows[1]["modes"] = rows[1]["modes"] | {"features": [[0.0] * 7, [1.0] + [0.0] * 6]}
    coefficients = (10.0, 0, 0, 0, 0, 0, 0)
    loose, stiff = (
        evaluate(rows, coefficients=coefficients, consistency=Consistency(stiffness=stiffness))["davis one"]
        for stiffness in (1e-3, 40.0)
    )
    assert 25 < loose["modes + temporal"] < stiff["modes + temporal"] == 100


def test_kinds_add_the_counts_of_their_sequences():
    rows = [_frame(0), _frame(0, sequence="two"), _frame(0, kind="camvid", sequence="three")]
    found = evaluate(rows)
    assert list(found) == ["davis one", "davis two", "camvid three", "davis", "camvid"]
    assert found["davis"]["mean field"] == pytest.approx(25)
