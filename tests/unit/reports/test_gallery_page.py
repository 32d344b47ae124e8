"""The gallery of a folder of segmented images."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from page_examples import random_posterior

import mixfield as mf
from mixfield.errors import FileFormatError
from mixfield.reports.about import TWO_PROBABILITIES
from mixfield.reports.gallery_page import MAX_CARDS, SegmentedImage, gallery_page, segmented_images
from mixfield.reports.segmentation import Given, write_segmentation


def write(folder, bounds, *, names=()):
    """Modes that differ in half of the image, with these bounds."""
    q = np.zeros((len(bounds), 6, 8, 2))
    q[..., 0] = 1.0
    for k in range(1, len(bounds)):
        q[k, :, :4] = 0.0, 1.0
    post = mf.MixturePosterior(tuple(mf.Mode(one, bound) for one, bound in zip(q, bounds, strict=True)))
    image = random_posterior()[1]
    write_segmentation(folder, image, post, np.zeros((6, 8)), Given(names=names))


@pytest.fixture
def results(tmp_path):
    write(tmp_path / "sure & <clear>", [0.0], names=("wall", "door"))
    write(tmp_path / "doubtful", [0.0, -0.1])
    write(tmp_path / "nearly sure", [0.0, -5.0])
    (tmp_path / "doubtful" / "report.html").write_text("")
    return tmp_path


def test_doubtful_images_come_first(results):
    images = segmented_images(results)
    assert [image.folder.name for image in images] == ["doubtful", "nearly sure", "sure & <clear>"]
    assert images[0].doubt == pytest.approx(0.5 / (1 + np.exp(0.1)))
    assert images[2].doubt == 0.0
    page = gallery_page(results, title="all")
    assert re.findall(r"<article.*?<h2>(.*?)</h2>", page) == ["doubtful", "nearly sure", "sure &amp; &lt;clear&gt;"]


def test_doubt_is_that_of_the_marginals(results, tmp_path):
    """Calibrated weights are not the probabilities of labels, which the marginals are."""
    probs = np.random.default_rng(0).dirichlet(np.ones(3), (6, 8))
    image = np.zeros((6, 8), np.uint8)
    post = mf.segment(image, probs)
    assert post.calibration is not None
    facts = write_segmentation(tmp_path / "calibrated", image, post, None)
    labels = post.modes[0].labeling()
    agreed = np.take_along_axis(post.marginals(), labels[..., None], -1)
    assert facts["doubt"] == pytest.approx(1 - agreed.mean(), abs=1e-9)
    found = {image.folder.name: image for image in segmented_images(results)}
    assert found["calibrated"].doubt == facts["doubt"]
    assert next(iter(found)) == "calibrated"
    page = gallery_page(results, title="all")
    assert "1 minus the probability of that label" in page
    assert (TWO_PROBABILITIES in page) == (len(post.modes) > 1)


def test_the_two_probabilities_of_calibrated_modes_are_explained(results):
    assert TWO_PROBABILITIES not in gallery_page(results, title="all")
    path = results / "doubtful" / "summary.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"calibrated": True}))
    assert TWO_PROBABILITIES in gallery_page(results, title="all")


def test_results_of_earlier_versions_have_the_doubt_of_their_modes(results):
    path = results / "doubtful" / "summary.json"
    assert "earlier versions" not in gallery_page(results, title="all")
    summary = json.loads(path.read_text())
    del summary["doubt"], summary["calibrated"]
    path.write_text(json.dumps(summary))
    assert segmented_images(results)[0].doubt == pytest.approx(0.5 / (1 + np.exp(0.1)))
    assert "For results of earlier versions, it is the share" in gallery_page(results, title="all")


def test_cards_have_pictures_names_and_links(results):
    calls = []
    page = gallery_page(results, title="all", progress=lambda done, total: calls.append((done, total)))
    assert page.count('<img src="data:image/') == 5  # two of each image with two modes, one of the other
    assert "door</li>" in page
    assert 'href="doubtful/report.html"' in page
    assert 'href="nearly%20sure/figure.png"' in page
    assert 'href="nearly%20sure/report.html"' not in page
    assert "<clear>" not in page
    assert 'class="bar"' not in page  # nothing on a card says of what
    assert calls == [(1, 3), (2, 3), (3, 3)]


def test_only_the_most_doubtful_have_pictures(results, monkeypatch):
    monkeypatch.setattr("mixfield.reports.gallery_page.MAX_CARDS", 1)
    page = gallery_page(results, title="all")
    assert page.count("<article") == 1
    assert page.count('<th scope="row">') == 3
    assert MAX_CARDS > 1


def test_equal_doubt_is_ordered_by_the_largest_difference(tmp_path):
    one = SegmentedImage(
        tmp_path / "a", (1.0, 0.0), (0.0, 0.1), (0,), "", 0.0, by_modes=False, calibrated=False, without_doubt=False
    )
    two = SegmentedImage(
        tmp_path / "b", (1.0, 0.0), (0.0, 0.4), (0,), "", 0.0, by_modes=False, calibrated=False, without_doubt=False
    )
    assert sorted([one, two], key=lambda image: image.order) == [two, one]


def test_a_summary_of_something_else(results):
    (results / "doubtful" / "summary.json").write_text(json.dumps({"modes": 3}))
    with pytest.raises(FileFormatError, match="is not the summary of a segmentation"):
        segmented_images(results)
