"""The page of the experiment."""

from __future__ import annotations

import json

from experiments.interactive.page import write_page


def rows(annotator):
    strokes = {kind: {"ious": [0.5, 0.75], "seconds": 0.1} for kind in ("sparse", "rich")}
    clicks = {"ious": [0.5, 0.87, 0.93], "seconds": [0.1, 0.2, 0.3]}
    return [
        {"photo": name, "method": "ours", "annotator": annotator, "strokes": strokes, "clicks": clicks}
        for name in ("one", "two")
    ]


def test_page_has_the_numbers(tmp_path):
    made_by = {"command": "python -m experiments interactive", "versions": {"mixfield": "0"}}
    page = write_page([*rows("perfect"), *rows("careless")], made_by, tmp_path)
    text = page.read_text()
    assert "| ours | 0.500 [0.500, 0.500] | 0.750 [0.750, 0.750] |" in text
    assert text.count("| ours | 2.0 [2.0, 2.0] | 3.0 [3.0, 3.0] | 0.20 |") == 2
    assert len(json.loads((tmp_path / "interactive.json").read_text())["rows"]) == 4
