"""`python -m experiments belief` on two small images in two sizes."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from experiments.__main__ import app

SIZE = 24


@pytest.fixture
def stills(tmp_path):
    """Squares on noise, whose scores are wrong in a corner, for both networks."""
    rng = np.random.default_rng(0)
    for subset in ("voc", "vocval7", "coco"):
        folder = tmp_path / "segmentation" / subset
        (folder / "img").mkdir(parents=True)
        (folder / "gt").mkdir()
        names = [f"{subset}{k}" for k in range(2)]
        logits = np.zeros((2, 21, SIZE, SIZE), np.float16)
        for k, name in enumerate(names):
            truth = np.zeros((SIZE, SIZE), np.uint8)
            truth[4 + k : 16 + k, 4:16] = 1 + k
            logits[k, 1 + k] = 6.0 * (truth > 0) - 3.0
            logits[k, 1 + k, :6, :6] += 5
            Image.fromarray(
                rng.integers(0, 60, (SIZE, SIZE, 3), np.uint8) + 120 * (truth > 0)[..., None].astype(np.uint8)
            ).save(folder / "img" / f"{name}.png")
            Image.fromarray(truth).save(folder / "gt" / f"{name}.png")
        for net in ("dl513", "dl257"):
            size = np.array([[513, 513]] * 2)
            np.savez(folder / f"unary_{net}.npz", names=np.array(names), logits=logits, hw=size)
    return tmp_path


def test_every_row_is_printed(stills):
    folders = ["--work", str(stills / "work"), "--out", str(stills / "out")]
    command = ["belief", "--data", str(stills), "--step", "2", "--step", "1", "--workers", "1", *folders]
    result = CliRunner().invoke(app, command, catch_exceptions=False)
    assert result.exit_code == 0
    page = (stills / "out" / "belief.md").read_text()
    for row in (
        "relative to softmax |",
        "| log-score of the best mode above uniform |",
        "| log-score of the best mode above uniform, eight modes",
        "best of the first 8 above mean field",
        "settled changes above the first answer",
        "| alternatives with straight edges",
        "best of the first 8 above that of DivMBest",
        "best of 8 without an end of the list above that of DivMBest",
    ):
        assert page.count(row) == 4
    results = json.loads((stills / "out" / "belief.json").read_text())
    assert [row["step"] for row in results["rows"]] == [2] * 12 + [1] * 12
    assert len(results["own"]) == 12  # of the first size
    for rows in (results["rows"], results["own"]):
        assert all(row["ious"][0] > 50 for row in rows)
    assert [row["step"] for row in results["diverse"]] == [2] * 12 + [1] * 12
