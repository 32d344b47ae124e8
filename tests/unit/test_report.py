"""Pages as files: what they hold, what they refuse, and the command that makes them."""

from __future__ import annotations

import base64
import io
import json
import re
import zlib

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import mixfield as mf
from mixfield.cli import app
from mixfield.reports import png
from mixfield.reports.cuts import drawing
from mixfield.reports.field_page import field_page
from mixfield.reports.people_page import people_page
from mixfield.reports.results import report_page
from mixfield.reports.segmentation import write_segmentation
from mixfield.reports.segmentation_page import segmentation_page
from mixfield.reports.video_page import VideoFrame, video_page

runner = CliRunner()


def facts_of(page):
    return json.loads(re.search(r'id="facts">(.*?)</script>', page, re.DOTALL)[1])


def planes_of(page):
    return zlib.decompress(base64.b64decode(re.search(r'id="planes">(.*?)</script>', page)[1]))


@pytest.fixture(scope="module")
def segmented():
    """A posterior over 6 x 8 pixels with three labels and two modes."""
    rng = np.random.default_rng(0)
    modes = tuple(mf.Mode(rng.dirichlet(np.ones(3), (6, 8)), -float(k)) for k in range(2))
    return mf.MixturePosterior(modes), rng.integers(0, 256, (6, 8, 3), dtype=np.uint8)


@pytest.mark.parametrize("shape", [(5, 7), (1, 1), (16, 3)])
def test_png_files_are_read_back_by_others(shape):
    rng = np.random.default_rng(1)
    grey, colour = rng.integers(0, 256, shape, dtype=np.uint8), rng.integers(0, 256, (*shape, 3), dtype=np.uint8)
    labels = rng.integers(0, 4, shape, dtype=np.uint8)
    table = rng.integers(0, 256, (256, 3), dtype=np.uint8)
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(png.grey_png(grey)))), grey)
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(png.rgb_png(colour)))), colour)
    read = Image.open(io.BytesIO(png.indexed_png(labels, table, see_through=0)))
    np.testing.assert_array_equal(np.asarray(read), labels)
    shown = np.asarray(read.convert("RGBA"))
    np.testing.assert_array_equal(shown[..., :3], table[labels])
    np.testing.assert_array_equal(shown[..., 3] == 0, labels == 0)


def test_photographs_are_pngs_without_pillow(monkeypatch):
    image = np.zeros((4, 4, 3), np.uint8)
    assert png.photo_uri(image).startswith("data:image/jpeg")
    monkeypatch.setitem(__import__("sys").modules, "PIL", None)
    assert png.photo_uri(image).startswith("data:image/png")


def test_a_segmentation_page_holds_every_probability(segmented):
    post, image = segmented
    page = segmentation_page(post, image, names=("a", "<b>"), title="x < y")
    facts = facts_of(page)
    labels, q = facts["labels"], np.stack([mode.marginals for mode in post.modes])
    planes = np.frombuffer(planes_of(page), np.uint8).reshape(1 + len(labels), 2, 6, 8)
    planes = np.stack([planes[:, 0], planes[:, 0] + planes[:, 1]], axis=1)
    for place, label in enumerate(labels):
        np.testing.assert_allclose(planes[1 + place] / 255, q[..., label["value"]], atol=0.5 / 255 + 1e-9)
    np.testing.assert_array_equal(planes[0], post.labelings())  # all three labels are listed, in order
    assert [label["name"] for label in labels] == ["a", "<b>", "label 2"]
    assert "x &lt; y" in page
    assert "<b>" not in re.search(r'<ul class="keys".*?</ul>', page)[0]
    assert [mode["weight"] for mode in facts["modes"]] == pytest.approx(post.weights.tolist())


def test_pages_load_nothing(segmented):
    post, image = segmented
    for page in (segmentation_page(post, image), field_page(post)):
        assert not re.findall(r"(?:src|href)=[\"'](?!data:|#)", page)
        assert "default-src 'none'" in page
        assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")


@pytest.mark.parametrize(
    ("changed", "word"),
    [({"image": np.zeros((5, 5), np.uint8)}, "size of the posterior"), ({"pixels": np.zeros((2, 2), int)}, "pixels")],
)
def test_a_segmentation_page_refuses_what_does_not_fit(segmented, changed, word):
    post, image = segmented
    with pytest.raises(mf.errors.MixfieldError, match=word):
        segmentation_page(post, **({"image": image} | changed))


def test_the_tree_names_every_node():
    post = mf.infer(mf.datasets.random_ising(5, rng=0), 6)
    text = drawing(post)
    assert text.count("data-node=") == len(post.tree) == 11
    for k, weight in enumerate(post.weights, 1):
        assert f"mode {k} · " in text, weight
    children = facts_of(field_page(post))["tree"]
    for node in children:
        if node["cut"]:
            assert node["weight"] == pytest.approx(sum(children[k]["weight"] for k in node["children"]))


def test_a_field_page_of_one_mode_and_of_infinite_bounds():
    post = mf.MixturePosterior((mf.Mode(np.full((3, 2), 0.5), -np.inf),), notes=("nothing stands",))
    page = field_page(post)
    assert "nothing stands" in page
    assert facts_of(page)["tree"] == []


def test_a_video_is_checked(segmented):
    labels = np.zeros((2, 6, 8), int)
    good = {"image": segmented[1], "mean_field": labels[0], "modes": labels, "weights": [0.6, 0.4], "chosen": 0}
    assert facts_of(video_page([VideoFrame(**good)]))["frames"][0]["weights"] == [0.6, 0.4]
    for wrong in ({"chosen": 2}, {"weights": [1.0]}, {"mean_field": labels[0, :3]}):
        with pytest.raises(mf.errors.MixfieldError, match="of frame 0"):
            video_page([VideoFrame(**(good | wrong))])
    with pytest.raises(mf.errors.MixfieldError, match="at least one"):
        video_page([])


def test_people_without_pictures_and_tracks():
    walk = mf.datasets.walking_people(n_people=1, n_frames=1)
    post = mf.detect(walk.scene, list(walk.masks[0]), 2)
    facts = facts_of(people_page({4: post}, walk.scene))
    assert facts["cameras"] == facts["tracks"] == []
    assert facts["frames"][0]["number"] == 4
    with pytest.raises(mf.errors.MixfieldError, match="at least one"):
        people_page({}, walk.scene)


class TestCommand:
    """``mixfield report`` on what the other verbs leave behind."""

    def test_of_a_posterior(self, tmp_path):
        mf.infer(mf.datasets.random_ising(3, rng=0), 2).save(tmp_path / "grid.npz")
        answer = runner.invoke(app, ["report", str(tmp_path / "grid.npz"), "--json", "--title", "My grid"])
        told = json.loads(answer.stdout)
        page = (tmp_path / "report.html").read_text()
        assert told["bytes"] == len(page.encode())
        assert "<h1>My grid</h1>" in page

    def test_of_a_segmentation(self, segmented, tmp_path):
        post, image = segmented
        write_segmentation(tmp_path / "cat", image, post, np.full((6, 8), 0.5))
        out = tmp_path / "page.html"
        answer = runner.invoke(app, ["report", str(tmp_path / "cat"), "--out", str(out)])
        assert answer.exit_code == 0, answer.output
        assert "open it in a browser" in answer.stdout
        assert facts_of(out.read_text())["gap"] == 1.0
        (tmp_path / "cat" / "image.png").unlink()
        assert 'data-kind="field"' in report_page(tmp_path / "cat")
        Image.fromarray(image).save(tmp_path / "photo.png")
        page = report_page(tmp_path / "cat" / "result.npz", image=tmp_path / "photo.png")
        assert 'data-kind="segmentation"' in page

    def test_of_people(self, tmp_path):
        walk = mf.datasets.walking_people(n_people=2, n_frames=3, rng=1)
        for t, masks in enumerate(walk.masks):
            mf.detect(walk.scene, list(masks), 2).save(tmp_path / f"frame_{t:06d}.npz")
        answer = runner.invoke(app, ["report", str(tmp_path)])
        assert answer.exit_code != 0
        assert "--scene" in str(answer.exception)
        for t, masks in enumerate(walk.masks):
            for c, mask in enumerate(masks):
                Image.fromarray(mask).convert("L").save(tmp_path / f"mask_{c}_{t}.png")
        mf.write_pom(tmp_path / "room.pom", walk.scene, masks="mask_%c_%f.png")
        rows, columns = walk.scene.ground.shape
        scene = tmp_path / "scene.toml"
        scene.write_text(f'pom = "room.pom"\nrows = {rows}\ncolumns = {columns}\ncell = 0.25\n')
        table = tmp_path / "tracks.csv"
        arguments = ["track", str(tmp_path), "--scene", str(scene), "--frame-rate", "4", "--out", str(table)]
        assert runner.invoke(app, arguments).exit_code == 0
        chosen = json.loads(table.with_suffix(".json").read_text())["chosen_modes"]
        arguments = ["report", str(tmp_path), "--scene", str(scene), "--tracks", str(table), "--frames", "1:"]
        answer = runner.invoke(app, arguments)
        assert answer.exit_code == 0, answer.output
        facts = facts_of((tmp_path / "report.html").read_text())
        assert [frame["chosen"] for frame in facts["frames"]] == chosen[1:]
        assert [frame["number"] for frame in facts["frames"]] == [1, 2]
        assert len(facts["cameras"]) == len(facts["frames"][0]["pictures"]) == 2
        assert facts["tracks"]
        assert all(first + len(places) <= 2 for _, first, places in facts["tracks"])

    def test_of_a_video(self, tmp_path):
        labels = np.zeros((4, 2, 6, 8), np.uint8)
        weights = np.tile([0.7, 0.3], (4, 1))
        weights[0] = [1, 0]
        images = np.zeros((4, 6, 8, 3), np.uint8)
        arrays = {"images": images, "mean_field": labels[:, 0], "modes": labels, "weights": weights}
        np.savez_compressed(tmp_path / "video.npz", chosen=[0, 1, 1, 0], numbers=[5, 6, 7, 8], **arrays)
        frames = facts_of(report_page(tmp_path, frames=slice(0, 3)))["frames"]
        assert [frame["number"] for frame in frames] == [5, 6, 7]
        assert [len(frame["modes"]) for frame in frames] == [1, 2, 2]
        np.savez_compressed(tmp_path / "video.npz", **arrays)
        with pytest.raises(mf.errors.FileFormatError, match="lacks chosen"):
            report_page(tmp_path)

    @pytest.mark.parametrize(
        ("make", "word"), [(lambda _: None, "does not exist"), (lambda p: p.mkdir(), "no result.npz")]
    )
    def test_of_nothing(self, tmp_path, make, word):
        make(tmp_path / "x")
        answer = runner.invoke(app, ["report", str(tmp_path / "x")])
        assert answer.exit_code != 0
        assert word in str(answer.exception)

    def test_of_a_folder_of_results_names_one(self, segmented, tmp_path):
        write_segmentation(tmp_path / "out" / "cat", segmented[1], segmented[0], np.zeros((6, 8)))
        with pytest.raises(mf.errors.MixfieldError, match="cat"):
            report_page(tmp_path / "out")

    def test_frames_must_be_places(self, tmp_path):
        answer = runner.invoke(app, ["report", str(tmp_path), "--frames", "a:b"])
        assert "0:400" in str(answer.exception)


class TestNotebook:
    def test_card_has_a_picture_and_a_weight_for_each_mode(self):
        post = mf.infer(mf.datasets.four_zones(8), 2)
        text = post._repr_html_()
        assert text.count("<img") == 2
        for weight in post.weights:
            assert f"{100 * weight:.1f} %" in text
        first, second = post.labelings()
        assert f"{(first != second).sum()} differ" in text

    def test_card_of_a_chain_has_no_pictures(self):
        post = mf.infer(mf.FactorGraph.ising([0.0, 0.1, 0.0], [(0, 1), (1, 2)], 2.0), 2)
        assert "<img" not in post._repr_html_()
        assert "2 modes of 3 variables" in post._repr_html_()

    def test_plot_draws_one_panel_per_mode(self, segmented):
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        post, image = segmented
        for drawn in (post, mf.infer(mf.datasets.four_zones(6), 2)):
            figure = drawn.plot()
            assert [axis.get_title().split(":")[0] for axis in figure.axes] == ["mode 1", "mode 2"]
        assert len(post.plot(image).axes[0].images) == 2
        axes = pyplot.subplots(1, 2)[1]
        assert post.plot(axes=axes) is axes[0].figure
        with pytest.raises(mf.errors.MixfieldError, match="one per mode"):
            post.plot(axes=axes[:1])
        pyplot.close("all")
