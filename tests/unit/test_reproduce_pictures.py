"""`mixfield reproduce segmentation` and `video` on tiny pictures: what is measured, kept, and left out."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from mixfield.cli import app
from mixfield.reproduce import segmentation, video
from mixfield.reproduce.annotated import Annotated

pytest.importorskip("cv2")
SHAPE = (24, 32)


def _picture(rng, shift):
    """A bright square that moves, as image, labels and logits (21, 33, 33) of a network that half sees it."""
    labels = np.zeros(SHAPE, np.uint8)
    labels[6:16, 8 + shift : 20 + shift] = 1
    image = np.clip(60 + 120 * labels[..., None] + rng.normal(0, 8, (*SHAPE, 3)), 0, 255).astype(np.uint8)
    logits = rng.normal(0, 0.3, (21, 33, 33)).astype(np.float16)
    logits[0] += 3
    logits[1, 6:16, 8:20] += 4
    return image, labels, logits


def _write(folder, names, scores):
    from PIL import Image

    rng = np.random.default_rng(0)
    (folder / "img").mkdir(parents=True)
    (folder / "gt").mkdir()
    found = []
    for k, name in enumerate(names):
        image, labels, logits = _picture(rng, k)
        Image.fromarray(image).save(folder / "img" / f"{name}.png")
        Image.fromarray(labels).save(folder / "gt" / f"{name}.png")
        found.append(logits)
    for file, entries in scores(np.stack(found), names).items():
        np.savez(folder / file, **entries)


def _still(logits, names):
    sizes = np.tile(np.array(SHAPE) * 513 // 32, (len(names), 1))
    return {
        "unary_dl513.npz": {"logits": logits, "names": np.array(names), "hw": sizes},
        "unary_dl257.npz": {"logits": logits, "names": np.array(names)},
    }


def test_segmentation_measures_every_method_of_an_image(tmp_path):
    pytest.importorskip("PIL")
    for kind in segmentation.SETS:
        _write(tmp_path / "segmentation" / kind, ["one", "two"], _still)
    tasks = segmentation.tasks(tmp_path, count=3, images=1)
    assert len(tasks) == len(segmentation.SETS) * len(segmentation.NETWORKS) * len(segmentation.methods())
    name = "dl513 voc one ours"
    row = segmentation.measure(*tasks[name])
    assert (row["net"], row["set"], row["image"], row["method"]) == ("dl513", "voc", "one", "ours")
    assert row["wanted"] == 3
    assert 1 <= len(row["ious"]) <= 3
    assert len(row["spent"]) == len(row["ious"])
    assert row["spent"] == sorted(row["spent"])
    assert row["spent"][-1] > 0
    assert json.loads(json.dumps(row)) == row


@pytest.fixture
def clip(tmp_path):
    pytest.importorskip("PIL")
    sequence = tmp_path / "video" / "davis" / "square"
    _write(
        sequence,
        ["00", "01", "02"],
        lambda logits, names: {"unary_dl513.npz": {**_still(logits, names)["unary_dl513.npz"]}},
    )
    (sequence.parent / "meta.json").write_text(json.dumps({"square": {"fg_classes": [1]}}))
    (tmp_path / "video" / "camvid").mkdir()
    return tmp_path


def test_a_frame_is_measured_with_the_one_before(clip):
    tasks = video.tasks(clip, count=2, every=1)
    assert list(tasks) == ["square 00", "square 01", "square 02"]
    rows = [video.measure(*values) for values in tasks.values()]
    assert [row["frame"] for row in rows] == Annotated(clip / "video" / "davis" / "square", "dl513").names
    assert rows[0]["matched"] is None
    assert all(0 <= row["matched"] <= 1 for row in rows[1:])
    assert "steps" not in rows[0]["modes"]
    assert np.shape(rows[1]["modes"]["steps"]) == (len(rows[0]["modes"]["log_z"]), len(rows[1]["modes"]["log_z"]))


def test_a_video_goes_on_where_it_was_stopped(clip):
    command = ["reproduce", "video", "--data", str(clip), "--modes", "2"]
    folders = ["--work", str(clip / "work"), "--out", str(clip / "out")]
    assert CliRunner().invoke(app, [*command, *folders]).exit_code == 0
    page = (clip / "out" / "video.md").read_text()
    (clip / "work" / "square_01.json").unlink()
    assert CliRunner().invoke(app, [*command, *folders]).exit_code == 0
    assert (clip / "out" / "video.md").read_text() == page
    other = CliRunner().invoke(app, [*command[:-1], "3", *folders])
    assert "other settings" in str(other.exception)
