"""The page of the experiment."""

from __future__ import annotations

import json

from experiments.interactive.page import write_page
from experiments.interactive.person import CLICKS, CONTROL, OFFERS, REFINED_CONTROL


def methods(annotator):
    strokes = {kind: {"ious": [0.5, 0.75], "weights": [0.6, 0.4], "seconds": 0.1} for kind in ("sparse", "rich")}
    clicks = {"ious": [0.5, 0.87, 0.93], "seconds": [0.1, 0.2, 0.3]}
    slower = {"ious": [0.5, 0.6, 0.87, 0.88, 0.88, 0.93], "seconds": [0.1] * 6}
    common = {"annotator": annotator, "strokes": strokes if annotator == "perfect" else {}}
    return [
        {"photo": name, "method": method, "clicks": found, **common}
        for method, found in (("mixture", clicks), ("other", slower))
        for name in ("one", "two")
    ]


def persons(annotator, **more):
    def states(*done):
        return [{"iou": 0.9 if k == len(done) else 0.5, "did": did} for k, did in enumerate([None, *done])]

    offered = {"ious": [0.5, 0.8], "weights": [0.6, 0.4]}
    ways = {
        CLICKS: states("click", "click"),
        OFFERS: [{**state, **offered} for state in states("click", "choice")],
        CONTROL: states("click", "click", "click", "click"),
        REFINED_CONTROL: states("click", "click", "click")[:-1],  # 90 % is not reached
    }
    return [
        {"photo": name, "way": way, "annotator": annotator, "states": found, **more}
        for way, found in ways.items()
        for name in ("one", "two")
    ]


def test_page_has_the_numbers(tmp_path):
    made_by = {"command": "python -m experiments interactive", "versions": {"mixfield": "0"}}
    rows = {
        "methods": [*methods("perfect"), *methods("careless")],
        "persons": [*persons("perfect"), *persons("careless")],
        "objects": persons("perfect", network="dl513"),
        "kept": persons("perfect", network="dl257"),
        "ceilings": [
            {"photo": name, "network": "dl513", "uniform": 0.85, "refined": iou, "ideal": ideal}
            for name, iou, ideal in (("one", 0.89, 1), ("two", 0.95, 2))
        ],
    }
    text = write_page(rows, made_by, tmp_path).read_text()
    assert "| mixture | 0.500 [0.500, 0.500] | 0.750 [0.750, 0.750] |" in text
    assert text.count("| mixture | 2.0 [2.0, 2.0] | 3.0 [3.0, 3.0] | 0.20 |") == 2
    assert "| other | 0.50 [0.50, 0.50] | 0.50 [0.50, 0.50] |" in text
    assert "| click 1, choice 0.4, yes/no 0.3 | 2.00 | 1.40 | 0.70 [0.70, 0.70] |" in text
    assert "| dl513 | 4.00 (0) | 20.00 (2) | 2.00 (0) |" in text
    assert "| dl513 | 5.00 [5.00, 5.00] | 0.50 [0.50, 0.50] | 0.10 [0.10, 0.10] | 0.50 [0.50, 0.50] |" in text
    assert "| dl257 | 4.00 (0) | 2.00 (0) | 0.50 [0.50, 0.50] | 0.50 [0.50, 0.50] |" in text
    assert "| ... that nothing was chosen on, with dl257 | 6 | 0.00 | 0.60 |" in text
    assert "| dl513 | 0 of 2 | 1 of 2 | 1.50 |" in text
    assert "4 clicks, 4 choices, 0 answers" in text
    assert "| human strokes | 4 | 0.00 | 0.60 | 0.600 | -0.22 [-0.22, -0.22] |" in text
    assert json.loads((tmp_path / "interactive.json").read_text())["objects"] == rows["objects"]
