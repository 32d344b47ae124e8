"""What the pages show when people click, scrub, hover and type."""

from __future__ import annotations

import base64
import io

import numpy as np
import page_examples as pages
import pytest
from PIL import Image

from mixfield.apps.detection import positions
from mixfield.io import read_label_map
from mixfield.reports.gallery_page import gallery_page
from mixfield.reports.people_page import tracks_page
from mixfield.reports.segmentation import write_segmentation


@pytest.fixture(scope="module")
def segmentation():
    return pages.segmentation()


def drawn(page):
    """What the canvas shows now, as a number."""
    return page.evaluate(
        """() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {
          const c = document.getElementById("view"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
          let h = 7; for (const v of d) h = (h * 31 + v) % 2147483647; done(h); })))"""
    )


def test_choosing_a_mode_changes_the_picture(open_page, segmentation):
    page = open_page(segmentation[0])
    before = drawn(page)
    page.get_by_label("mode 2").first.check()
    assert drawn(page) != before
    assert "mode 2" in page.locator("#view").get_attribute("aria-label")
    page.get_by_label("mode 1").first.check()
    assert drawn(page) == before


def test_opacity_and_views(open_page, segmentation):
    page = open_page(segmentation[0])
    pictures = {drawn(page)}
    page.locator("#opacity").fill("20")
    pictures.add(drawn(page))
    for view in ("differences", "entropy gap", "scribbles", "image alone"):
        page.get_by_label(view).check()
        pictures.add(drawn(page))
    assert len(pictures) == 6


def test_a_pixel_tells_its_probabilities(open_page, segmentation):
    text, post, superpixels = segmentation
    page = open_page(text)
    box = page.locator("#view").bounding_box()
    scale = min(box["width"] / 60, box["height"] / 40)
    row, column = 30, 25
    page.mouse.move(box["x"] + (column + 0.5) * scale, box["y"] + (row + 0.5) * scale)
    assert f"Row {row}, column {column}" in page.locator("#probe-text").inner_text()
    cells = page.locator("#probe tbody tr").nth(1).locator("td").all_inner_texts()
    shown = [float(cell.split()[-2]) / 100 if "<" not in cell else 0.0 for cell in cells]
    truth = [mode.marginals[superpixels[row, column], 1] for mode in post.modes]
    np.testing.assert_allclose(shown, [*truth, np.dot(post.weights, truth)], atol=0.5 / 255 + 6e-4)
    page.locator("#view").focus()
    page.keyboard.press("ArrowRight")
    assert f"Row {row}, column {column + 4}" in page.locator("#probe-text").inner_text()


def test_a_calibrated_page_shows_the_mixture_and_its_uncertainty(open_page):
    text, post = pages.calibrated_segmentation()
    page = open_page(text)
    assert len(post.modes) > 1
    box = page.locator("#view").bounding_box()
    scale = min(box["width"] / 60, box["height"] / 40)
    page.mouse.move(box["x"] + 30.5 * scale, box["y"] + 20.5 * scale)
    heads = page.locator("#probe thead th").all_inner_texts()
    assert [head for head in heads if head] == ["probability"]
    cells = [row.split("\t") for row in page.locator("#probe tbody tr").all_inner_texts()]
    shown = {name: float(cell.split()[-2]) / 100 for name, cell in cells}
    expected = dict(zip(("wall", "door", "sofa"), post.marginals()[20, 30], strict=True))
    assert shown == pytest.approx(expected, abs=0.5 / 255 + 6e-4)
    before = drawn(page)
    page.get_by_label("uncertainty").check()
    assert drawn(page) != before
    assert "entropy of the probabilities" in page.locator("#layer-text").inner_text()
    left_out = page.locator('[data-node][aria-label^="left out"]')
    assert left_out.count() == sum(node.mode == -1 for node in post.tree) - (len(post.tree) - 1) // 2
    left_out.first.click()
    assert "left out, too improbable" in page.locator("#cut").inner_text()
    assert not page.locator("#numbers ~ details table").is_visible()
    page.get_by_text("Bounds in nats").click()
    assert page.get_by_text("nats below mode 1").first.is_visible()


def test_a_pair_shows_where_it_differs(open_page, segmentation):
    page = open_page(segmentation[0])
    before = drawn(page)
    page.get_by_label("show where modes 1 and 3 differ").click()
    assert page.get_by_label("differences").is_checked()
    assert page.locator("#against").input_value() == "2"
    assert drawn(page) != before


def test_the_tree_explains_its_cuts(open_page, segmentation):
    text, post, _ = segmentation
    page = open_page(text)
    before = drawn(page)
    assert "Cut by a group" in page.locator("#cut").inner_text()  # the first cut, without being asked
    root = page.locator("[data-node='0']")
    root.click()
    said = page.locator("#cut").inner_text()
    child = next(node for node in post.tree if node.parent == 0)
    assert f"group of {len(child.constraint.group)} superpixel" in said
    assert "door" in said or "wall" in said
    assert len(page.locator("#cut li").all()) == 2
    assert root.get_attribute("aria-pressed") == "true"
    assert drawn(page) != before  # the group is marked
    leaf = next(k for k, node in enumerate(post.tree) if node.mode == 2)
    page.locator(f"[data-node='{leaf}']").focus()
    page.keyboard.press("Enter")
    assert "mode 3" in page.locator("#cut").inner_text()
    assert page.locator("[name=mode][value='2']").is_checked()


def test_the_label_map_can_be_downloaded(open_page, segmentation):
    text, post, superpixels = segmentation
    page = open_page(text)
    with page.expect_download() as waiting:
        page.get_by_label("download the label map of mode 2").click()
    assert waiting.value.suggested_filename == "mode_2.png"
    np.testing.assert_array_equal(read_label_map(waiting.value.path()), post.labelings()[1][superpixels])


def test_a_large_page_is_small_and_quick(open_page):
    text = pages.large_segmentation()
    assert len(text) < 3_000_000
    page = open_page(text)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})  # of the processor: the machine may be busy
    page.reload()
    page.wait_for_selector("body[data-ready]", timeout=60_000)
    spent = {metric["name"]: metric["value"] for metric in session.send("Performance.getMetrics")["metrics"]}
    assert 0 < spent["TaskDuration"] < 1.0


def test_a_field_lists_what_differs(open_page):
    text, post = pages.field()
    page = open_page(text)
    rows = page.locator("#variables tbody tr")
    count = rows.count()
    assert count > 3
    page.locator("#search").fill("x(7, 7)")
    assert page.locator("#variables tbody tr:visible").count() == 1
    assert page.locator("#found").inner_text() == f"1 of {count} variables"
    cell = page.locator("#variables tbody tr:visible td").first.inner_text()
    assert cell.startswith(str(post.modes[0].labeling()[7, 7]))
    page.locator("[data-node='0']").click()
    assert "Cut by a group" in page.locator("#cut").inner_text()
    assert "nats from the truth" in page.locator("main").inner_text()


def test_people_through_time(open_page):
    text, posts, tracks, scene = pages.people()
    page = open_page(text)
    for place, number in enumerate(sorted(posts)):
        page.locator("#time").fill(str(place))
        chosen = int(tracks.chosen_modes[place])
        people = positions(posts[number].modes[chosen], scene)
        assert f"Frame {number}: mode {chosen + 1}" in page.locator("#status").inner_text()
        assert page.locator("#ground .person").count() == len(people)
        assert page.locator("#ground .track").count() == int((tracks.table["frame"] == place).sum())
    assert page.locator("#boxes-0 .box").count() >= 1
    page.locator("[data-choice]").last.click()
    last = len(posts[14].modes)
    assert f"mode {last}" in page.locator("#status").inner_text()
    page.locator("circle[data-frame='1'][data-mode='0']").click()
    assert "Frame 11: mode 1" in page.locator("#status").inner_text()
    page.get_by_role("button", name="Play").click()
    assert page.locator("#status").get_attribute("aria-live") == "off"
    page.wait_for_selector("#time:not([aria-valuetext='frame 11'])")
    page.get_by_role("button", name="Stop").click()
    assert page.locator("#status").get_attribute("aria-live") == "polite"


def test_the_keyboard_stays_on_the_mode_it_chose(open_page):
    page = open_page(pages.video()[0])
    page.locator("[data-choice='2']").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.dataset.choice") == "2"
    assert "mode 3 differs from mean field" in page.locator("#status").inner_text()
    assert page.locator("#time").get_attribute("aria-valuetext") == "frame 100"


def test_tracks_alone(open_page):
    tracks = pages.people()[2]
    page = open_page(tracks_page(tracks))
    for place in range(tracks.frames):
        page.locator("#time").fill(str(place))
        count = int((tracks.table["frame"] == place).sum())
        assert page.locator("#status").inner_text() == f"Frame {place}: {count} on a track."
        assert page.locator("#ground .track").count() == count


def test_tracks_in_words(open_page):
    numbers = open_page(pages.people()[0]).locator("#numbers + *").inner_text()
    assert "median length of a track" in numbers
    assert "m/s" in numbers
    assert "_" not in numbers


def labels_in(page, element):
    """Labels that an image on the page holds."""
    content = page.locator(element).get_attribute("src").split(",")[1]
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(content))))


def test_video_is_scrubbed(open_page):
    text, frames = pages.video()
    page = open_page(text)
    for t, frame in enumerate(frames):
        page.locator("#time").fill(str(t))
        assert f"Frame {100 + t}: mode {frame.chosen + 1} chosen" in page.locator("#status").inner_text()
        np.testing.assert_array_equal(labels_in(page, "#chosen"), np.asarray(frame.modes)[frame.chosen])
        np.testing.assert_array_equal(labels_in(page, "#single"), frame.mean_field)
    assert page.locator("circle.chosen").count() == len(frames)
    page.locator("circle[data-frame='3'][data-mode='2']").click()
    assert "mode 3, 20.0 %, not chosen" in page.locator("#chosen-title").inner_text()
    page.locator("#opacity").fill("0")
    assert page.locator("#chosen").evaluate("e => e.style.opacity") == "0"


def test_layers_have_keys_and_the_entropy_gap_an_explanation(open_page, segmentation):
    page = open_page(segmentation[0])
    keys, text = page.locator("#layer-keys"), page.locator("#layer-text")
    assert not keys.is_visible()
    page.get_by_label("entropy gap").check()
    assert "hidden doubt" in text.inner_text()
    assert "1.0 bits" in keys.inner_text()
    page.get_by_label("differences").check()
    assert "modes 1 and 2 differ" in keys.inner_text()
    assert not text.is_visible()
    page.locator("[data-node]").first.click()
    assert "superpixels of the selected cut" in keys.inner_text()


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_a_gallery_fits_the_screen(open_page, tmp_path, width, dark):
    post, image = pages.random_posterior((60, 80))
    for name in ("one", "two"):
        write_segmentation(tmp_path / "all" / name, image, post, np.zeros((60, 80)))
    page = open_page(gallery_page(tmp_path / "all", title="all"), width=width, dark=dark)
    assert page.locator("article").count() == 2
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    box = page.locator("article img").first.bounding_box()
    assert box["width"] > 100
