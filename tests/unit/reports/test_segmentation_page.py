"""The page of a segmentation: probabilities, names, and what it refuses."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from page_examples import random_posterior, segmentation
from page_reading import HOSTILE, escaped_count, facts_of, planes_of

from mixfield.apps import questions
from mixfield.errors import MixfieldError
from mixfield.mixture.calibration import Blend, Calibration
from mixfield.reports.about import ONE_HOT, TWO_PROBABILITIES
from mixfield.reports.field_page import field_page
from mixfield.reports.segmentation_page import segmentation_page


@pytest.fixture(scope="module")
def segmented():
    """A posterior over 6 x 8 pixels with three labels and two modes, and an image."""
    return random_posterior()


def test_a_segmentation_page_holds_every_probability(segmented):
    post, image = segmented
    page = segmentation_page(post, image, names=("a", "<b>"), title="x < y")
    facts = facts_of(page)
    labels, q = facts["labels"], np.stack([mode.marginals for mode in post.modes])
    planes = np.frombuffer(planes_of(page), np.uint8)
    entropy = -(post.marginals() * np.log2(post.marginals())).sum(-1)
    np.testing.assert_allclose(planes[-48:].reshape(6, 8), 255 * entropy / max(1, entropy.max()), atol=0.51)
    planes = planes[:-48].reshape(1 + len(labels), 2, 6, 8)
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
    with pytest.raises(MixfieldError, match=word):
        segmentation_page(post, **({"image": image} | changed))


def test_gap_and_scribbles_follow_the_probabilities():
    page, post, superpixels = segmentation()
    facts = facts_of(page)
    assert facts["unit"] == "superpixel"
    assert facts["scribbles"] is True
    size, count = superpixels.size, len(post.modes) * (1 + len(facts["labels"]))
    planes = np.frombuffer(planes_of(page), np.uint8)
    assert len(planes) == size * (count + 2)
    gap, scribbles = planes[count * size :].reshape(2, *superpixels.shape)
    np.testing.assert_allclose(gap / 255, np.linspace(0, 1, size).reshape(gap.shape), atol=0.5 / 255 + 1e-9)
    assert set(np.unique(scribbles)) == {0, 1, 255}


@pytest.fixture
def calibrated(segmented):
    """The same with calibrated weights."""
    post, image = segmented
    evidence = np.random.default_rng(3).dirichlet(np.ones(3), (6, 8))
    calibration = Calibration(np.array([0.7, 0.3]), np.array([np.nan, 0.38]), evidence, Blend(0.3, 0.7))
    return replace(post, calibration=calibration), image


def test_a_calibrated_page_holds_the_marginals_of_the_mixture(calibrated):
    post, image = calibrated
    page = segmentation_page(post, image)
    facts = facts_of(page)
    assert facts["calibrated"] is True
    count = 2 + len(facts["labels"]) + 1
    planes = np.frombuffer(planes_of(page), np.uint8).reshape(count, 6, 8)
    for place, label in enumerate(facts["labels"]):
        np.testing.assert_allclose(
            planes[2 + place] / 255, post.marginals()[..., label["value"]], atol=0.5 / 255 + 1e-9
        )
    entropy = -(post.marginals() * np.log2(post.marginals())).sum(-1)
    np.testing.assert_allclose(planes[-1] / 255 * facts["doubt"]["maximum"], entropy, atol=0.01)


def test_a_calibrated_page_asks_and_has_nats_on_demand(calibrated):
    post, image = calibrated
    page = segmentation_page(post, image)
    (question,) = questions(post)
    assert question.text() in page
    assert "mean field has 70.0 %" in page
    assert TWO_PROBABILITIES in page
    assert re.search(r"<details><summary>.*nats below mode 1.*</details>", page, re.DOTALL)
    assert (ONE_HOT in page) == post.is_one_hot
    apart = replace(post, modes=(post.modes[0], replace(post.modes[1], log_z=post.modes[0].log_z - 20)))
    assert ONE_HOT in segmentation_page(apart, image)


def test_the_legend_has_the_labels_of_the_modes(calibrated):
    """Not those that are probable somewhere and shown nowhere, which the pixel probe names."""
    q = np.zeros((2, 6, 8, 3))
    q[...] = (0.5, 0.1, 0.4)
    q[1, :3] = (0.1, 0.5, 0.4)
    post, image = calibrated
    modes = tuple(replace(mode, marginals=each) for mode, each in zip(post.modes, q, strict=True))
    page = segmentation_page(replace(post, modes=modes), image, names=("sky", "sea", "ship"))
    legend = re.search(r'<ul class="keys" aria-label="labels">.*?</ul>', page)[0]
    assert re.findall(r"</i>(\w+)</li>", legend) == ["sky", "sea"]
    assert [label["name"] for label in facts_of(page)["labels"]] == ["sky", "sea", "ship"]


def test_no_doubt_is_the_first_thing_said(calibrated):
    post, image = calibrated
    calibration = post.calibration.take(np.array([0]))
    alone = replace(post, modes=post.modes[:1], tree=(), calibration=replace(calibration, without_doubt=True))
    assert "No doubt: one segmentation" in segmentation_page(alone, image)
    assert TWO_PROBABILITIES not in segmentation_page(alone, image)
    assert "No doubt" not in segmentation_page(replace(alone, calibration=calibration), image)


def test_a_single_mode_has_no_table_of_pairs():
    post, image = random_posterior(modes=1)
    page = segmentation_page(post, image)
    assert 'data-pair="' not in page
    assert "no other mode was found" in page


@pytest.mark.parametrize(("modes", "titles"), [(1, 3), (2, 2)])  # a single mode names the title in its sentence too
def test_hostile_titles_labels_and_notes_are_escaped(modes, titles):
    post, image = random_posterior(modes=modes)
    page = segmentation_page(replace(post, notes=(HOSTILE,)), image, names=(HOSTILE, "b", "c"), title=HOSTILE)
    present = sum(0 in labels for labels in post.labelings())
    assert escaped_count(page) == titles + 1 + 1 + present  # the note, the legend, the labels of each mode
    assert facts_of(page)["labels"][0]["name"] == HOSTILE


def test_modes_are_counted_from_one(segmented):
    page = segmentation_page(*segmented)
    for k in range(2):
        assert f'<option value="{k}">mode {k + 1}</option>' in page
        assert f'download="mode_{k + 1}.png"' in page
        assert f"<b>mode {k + 1}</b>" in page
        assert f'<th scope="row">mode {k + 1}</th>' in page
    assert 'data-pair="0,1" aria-label="show where modes 1 and 2 differ"' in page
    assert page.count(" checked>") == 2  # the first mode, and its labels
    assert re.search(r'name="mode" value="0" checked', page)
    assert re.search(r'name="show" value="labels" checked', page)
