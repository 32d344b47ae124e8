"""One method on one image."""

from __future__ import annotations

import json

from experiments.segmentation.measure import measure
from experiments.segmentation.plan import tasks


def test_row(photos):
    row = measure(*tasks(photos, count=3, images=1)["dl513 voc one ours"])
    assert (row["net"], row["set"], row["image"], row["step"], row["method"]) == ("dl513", "voc", "one", 1, "ours")
    assert row["wanted"] == 3
    assert 1 <= len(row["ious"]) <= 3
    assert len(row["spent"]) == len(row["ious"]) == len(row["by_weight"]) == len(row["log_z"]) == len(row["features"])
    assert row["spent"] == sorted(row["spent"])
    assert row["spent"][-1] > 0
    assert json.loads(json.dumps(row)) == row


def test_methods_without_a_posterior_have_no_ranking(photos):
    row = measure(*tasks(photos, count=3, images=1)["dl257 coco one restarts by 3"])
    assert row["step"] == 3
    assert "features" not in row
    assert 0 <= row["mean_field"] <= 1
