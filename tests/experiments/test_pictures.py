"""`python -m experiments segmentation` and `video` on tiny pictures: what is measured, kept, and left out."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.testing import assert_equal
from scipy.ndimage import gaussian_filter
from typer.testing import CliRunner

from experiments import segmentation, video
from experiments.__main__ import app
from experiments.annotated import Annotated
from experiments.segmentation_page import write_page
from mixfield.energy.dense_crf import DenseCRF
from mixfield.energy.gaussian import Gaussian
from mixfield.mixture.node import Node
from mixfield.solvers import dense
from mixfield.solvers.mean_field import mean_field

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
    fields = len(segmentation.SETS) * len(segmentation.NETWORKS) * len(segmentation.STEPS)
    assert len(tasks) == fields * len(segmentation.methods())
    more = segmentation.tasks(tmp_path, count=3, images=2)  # the second image is not one of every seven
    assert len(more) == len(tasks) + fields * (3 + len(segmentation.WIDE))
    small = segmentation.tasks(tmp_path, count=3, images=1, step=3)
    assert list(small) == [name for name in tasks if name.endswith("by 3")]
    row = segmentation.measure(*tasks["dl513 voc one ours"])
    assert (row["net"], row["set"], row["image"], row["step"], row["method"]) == ("dl513", "voc", "one", 1, "ours")
    assert row["wanted"] == 3
    assert 1 <= len(row["ious"]) <= 3
    assert len(row["spent"]) == len(row["ious"])
    assert row["spent"] == sorted(row["spent"])
    assert row["spent"][-1] > 0
    assert json.loads(json.dumps(row)) == row


def test_filterings_of_some_pixels_count_by_their_share():
    rng = np.random.default_rng(0)
    crf = DenseCRF(rng.random((*SHAPE, 3)), [Gaussian(3.0)])
    counted = segmentation.Counted.of_energy(crf)
    points, n_modes = np.arange(0, crf.n, 8), 2
    values = rng.random((len(points), crf.width(n_modes))).astype(np.float32)
    heard = counted.region(points, n_modes)
    assert counted.calls == 0
    assert_equal(heard(values), crf.region(points, n_modes)(values))
    heard(values)
    assert counted.calls == pytest.approx(2 * n_modes * len(points) / crf.n)


def test_updates_of_the_pixels_that_still_move_are_counted():
    rng = np.random.default_rng(0)
    costs = gaussian_filter(rng.standard_normal((160, 160, 3)), (12, 12, 0)) * 30
    field = segmentation.Counted.of_energy(DenseCRF(costs, [Gaussian(3.0, 3.0)]))
    mode = mean_field(field, solver=segmentation.ROUGH)
    assert field.n > dense.SMALL
    assert field.calls != round(field.calls)
    assert field.calls < mode.iterations  # most updates are of few pixels


def test_a_mode_keeps_its_place_when_its_leaf_is_cut():
    """The root has mode A.  It is cut into A and B, then B into B and C, then A into A and D."""
    nodes = [(-1, 5.0, -1), (0, 5.0, -1), (0, 4.0, -1), (2, 3.0, 2), (2, 4.0, 1), (1, 2.0, 3), (1, 5.0, 0)]
    tree = [Node(parent, None, float("nan"), log_z, mode) for parent, log_z, mode in nodes]
    assert segmentation._as_found(tree) == [0, 1, 2, 3]


def _row(net, step, image, method, rng):
    """What a measurement looks like: mean field first, then better and worse segmentations."""
    count = 32 if image % 7 == 0 and method in ("ours", *segmentation.TUNED[net]) else 8
    ious = 0.5 + np.append(0.0, 0.1 * rng.normal(size=count - 1))
    row = {"net": net, "set": "voc", "image": str(image), "step": step, "method": method, "wanted": count}
    row |= {"mean_field": 0.5, "ious": ious.tolist(), "spent": list(range(20, 20 * count + 1, 20)), "seconds": 1.0}
    if method == "ours":
        q = rng.dirichlet(np.ones(3), (count + 1, 10))
        features = rng.normal(size=(count, 7)) * (np.arange(count) > 0)[:, None]
        row |= {"by_weight": ious.tolist(), "log_z": (-np.arange(count)).tolist(), "features": features.tolist()}
        row |= {"likelihoods": {"true": [0] * 10, "q": np.rint(1000 * q).tolist()}}
    return row


def test_the_page_on_still_images_says_what_was_measured(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        _row(net, step, image, method, rng)
        for net in segmentation.NETWORKS
        for step in segmentation.STEPS
        for image in range(35)
        for method in segmentation.methods()
        if image % 7 == 0 or method in ("ours", *segmentation.TUNED[net])
    ]
    page = write_page(
        rows, {"command": "python -m experiments segmentation"}, [tmp_path / "one.png"], tmp_path
    ).read_text()
    results = json.loads((tmp_path / "segmentation.json").read_text())
    every = results["parts"]["a third of the size"]["dl513"]
    assert set(every) == {*segmentation.methods(), "tuned"} - {"DivMBest 0.3", "DivMBest 1", "noise 2"}
    assert (every["noise 1"]["images"], every["paper"]["images"]) == (35, 5)
    assert every["ours"]["images"] == 35
    assert len(every["ours"]["mean"]) == 4  # K = 1, 2, 4, 8
    some = results["parts"]["every seventh image, full resolution"]["dl257"]
    assert set(some) == {*segmentation.methods(), "tuned"}
    assert (len(some["ours"]["mean"]), len(some["paper"]["mean"])) == (6, 4)
    mine = [row for row in rows if (row["net"], row["step"], row["method"]) == ("dl513", 3, "ours")]
    assert every["ours"]["mean"][-1] == pytest.approx(
        np.mean([100 * (max(r["ious"][:8]) - 0.5) for r in mine]), abs=1e-3
    )
    equal = results["equal_calls"]["gains"]["8"]["dl513"]["DivMBest 0.5"]
    assert equal["segmentations"] == 8  # a segmentation costs the same in these rows
    assert results["equal_calls"]["size"] == results["ranking"]["size"] == "full resolution"
    assert "the same images, a third of the size" not in results["parts"]
    assert f"{every['ours']['mean'][-1]:.2f}" in page
    assert "one.png" in page


def test_a_size_is_judged_when_most_of_its_images_are_done(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        _row(net, step, image, method, rng)
        for net in segmentation.NETWORKS
        for step in segmentation.STEPS
        for image in range(35)
        for method in ("ours", *segmentation.TUNED[net])
        if step > 1 or image < 14
    ]
    page = write_page(rows, {"command": "python -m experiments segmentation"}, [], tmp_path)
    assert "28 of 70 pairs" in page.read_text()
    results = json.loads((tmp_path / "segmentation.json").read_text())
    assert results["ranking"]["size"] == "a third of the size"
    for part in ("full resolution", "the same images, a third of the size"):
        assert results["parts"][part]["dl513"]["ours"]["images"] == 14
    assert "the other half of the images, a third of the size" in results["parts"]


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


def test_a_video_may_be_reduced(clip):
    folder = clip / "video" / "davis" / "square"
    whole = Annotated(folder, "dl513").load("00")
    small = whole.reduced(2)
    assert small.image.shape[:2] == small.truth.shape == small.probs.shape[:2] == (12, 16)
    assert small.image[3, 4] == pytest.approx(whole.image[6:8, 8:10].mean((0, 1)), abs=0.5)
    assert small.truth[3, 4] == whole.truth[7, 9]
    tasks = video.tasks(clip, count=2, every=1, step=2)
    row = video.measure(*tasks["square 01"])
    assert np.sum(row["modes"]["counts"][0]) <= small.truth.size


def test_a_video_goes_on_where_it_was_stopped(clip):
    command = ["video", "--data", str(clip), "--modes", "2"]
    folders = ["--work", str(clip / "work"), "--out", str(clip / "out")]
    assert CliRunner().invoke(app, [*command, *folders]).exit_code == 0
    page = (clip / "out" / "video.md").read_text()
    (clip / "work" / "square_01.json").unlink()
    assert CliRunner().invoke(app, [*command, *folders]).exit_code == 0
    assert (clip / "out" / "video.md").read_text() == page
    other = CliRunner().invoke(app, [*command[:-1], "3", *folders])
    assert "other settings" in str(other.exception)
