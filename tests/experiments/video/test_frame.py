"""The modes of a frame and the truth."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.annotated import AnnotatedFolder
from experiments.video.frame import FIELDS, Frame


@pytest.mark.parametrize("field", FIELDS)
def test_a_row_has_an_entry_for_each_mode(field, clip):
    source = AnnotatedFolder(clip / "video" / "davis" / "square", "dl513")
    frame = Frame(source.load(source.names[0]), field, 2)
    row = frame.row(2)
    count = len(frame.posterior.modes)
    assert {len(row[name]) for name in ("counts", "network", "weights", "better")} == {count}
    assert row["root"] == frame.posterior.root_mode
    assert not row["better"][row["root"]]
    assert row["weights"][row["root"]] == 0
    labelings, truth = frame.posterior.labelings(), frame.example.truth
    for labels, better in zip(labelings, row["better"], strict=True):
        changed = labels != labelings[row["root"]]
        assert better == ((labels == truth)[changed].sum() > (labelings[row["root"]] == truth)[changed].sum())
    assert np.sum(row["counts"][0]) <= truth.size
