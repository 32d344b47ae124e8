"""Fitted models of the field: energies and calibrated modes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mixfield as mf
from mixfield.apps import segmentation_energy
from mixfield.apps.change_features import Logistic
from mixfield.apps.field_model import FieldModel
from mixfield.apps.questions import questions
from mixfield.errors import MixfieldError
from mixfield.mixture.calibration import Blend

PLAIN = FieldModel(
    exponent=1.0,
    kernels=mf.Kernels(smooth_sxy=2, smooth_weight=2, sxy=5, srgb=10, weight=3),
    answer=Logistic(slope=1.0),
    hypothesis=Logistic(0.5, 0.5, 0.2, -0.3, 0.1, 0.2),
    blending=Blend(0.2, 0.8),
    least_gain=0.0,
)


@pytest.fixture
def doubtful():
    """Two halves, of which one may be either label."""
    image = np.zeros((24, 32), np.uint8)
    image[:, 16:] = 200
    probs = np.zeros((24, 32, 2))
    probs[:, :16] = [0.9, 0.1]
    probs[:, 16:] = [0.45, 0.55]
    return image, probs


def test_mean_field_comes_first_and_weights_are_calibrated(doubtful):
    posterior = mf.segment(*doubtful, n_modes=3, model=PLAIN)
    assert posterior.root_mode == 0
    assert posterior.weights.sum() == pytest.approx(1.0)
    assert len(posterior.modes) > 1
    assert 0.05 < posterior.weights[0] < 0.95
    assert posterior.model_weights.max() > 0.99  # of the paper: nearly one-hot
    (first, *_) = questions(posterior)
    assert first.probability == pytest.approx(0.45, abs=0.03)
    assert first.share == pytest.approx(0.5, abs=0.05)


def test_marginals_have_a_lower_loss_than_the_mean_field(doubtful):
    image, probs = doubtful
    posterior = mf.segment(image, probs, n_modes=3, model=PLAIN)
    truth = np.where(np.random.default_rng(0).random(probs.shape[:2]) < probs[..., 0], 0, 1)
    rows, columns = np.indices(truth.shape)
    loss = [
        -np.log(np.maximum(p[rows, columns, truth], 1e-4)).mean()
        for p in (posterior.marginals(), posterior.modes[0].marginals)
    ]
    assert loss[0] < 0.8 * loss[1]


def test_alternatives_of_little_use_are_left_out(doubtful):
    posterior = mf.segment(*doubtful, n_modes=3, model=replace(PLAIN, least_gain=9.0))
    assert len(posterior.modes) == 1
    assert any("no doubt" in note for note in posterior.notes)
    assert [node.mode for node in posterior.tree if node.mode >= 0] == [0]


def test_the_list_is_shorter_where_no_alternative_is_probable(doubtful):
    image, probs = doubtful
    found = PLAIN.modes(probs, image[..., None].astype(float), 3)
    counts = [
        len(replace(PLAIN, answer=Logistic(shift, slope=1.0), least_gain=0.02).calibrate(found, probs).modes)
        for shift in (0.0, -6.0)
    ]
    assert counts[0] > counts[1] == 1


def test_weights_are_those_of_the_nearest_hypotheses(doubtful):
    """A list of two labelings of three shares the weight of the third."""
    image, probs = doubtful
    found = PLAIN.modes(probs, image[..., None].astype(float), 4)
    everything, two = (PLAIN.calibrate(found, probs, n_modes=count) for count in (None, 2))
    assert len(everything.modes) > 2
    labelings = everything.labelings()
    nearest = [int(np.argmax([mf.metrics.mean_iou([one], [other]) for other in labelings[:2]])) for one in labelings]
    np.testing.assert_allclose(two.weights, np.bincount(nearest, everything.weights))


def several_doubts():
    """Six fields of colours, each of which may have another label, some rather than others."""
    tiles = np.arange(6).reshape(2, 3).repeat(14, 0).repeat(14, 1)
    image = np.stack([40 * tiles, 255 - 40 * tiles, 30 + (tiles % 2) * 150], -1).astype(np.uint8)
    return image, np.stack([[0.9 - 0.07 * k, 0.05 + 0.07 * k, 0.05] for k in range(6)])[tiles]


@pytest.mark.parametrize("search", [None, PLAIN.kernels])
def test_the_number_of_modes_is_a_maximum(search):
    """It shortens the list, and changes neither the alternatives nor their questions."""
    model = replace(PLAIN, search=search, kernels=replace(PLAIN.kernels, smooth_weight=1, weight=2))
    lists = [mf.segment(*several_doubts(), count, model=model) for count in range(1, 9)]
    assert len(lists[-1].modes) > 4
    for count, posterior in enumerate(lists, 1):
        assert len(posterior.modes) == min(count, len(lists[-1].modes))
        np.testing.assert_array_equal(posterior.labelings(), lists[-1].labelings()[:count])
        np.testing.assert_array_equal(posterior.modes[0].marginals, lists[-1].modes[0].marginals)
        asked = [(one.caption(), one.probability) for one in questions(posterior)]
        assert asked == [(one.caption(), one.probability) for one in questions(lists[-1])][: count - 1]
    assert len(mf.segment(*several_doubts(), 12, model=model).modes) >= len(lists[-1].modes)


def test_one_mode_is_the_mean_field_without_a_search(monkeypatch):
    def no_search(*_, **__):
        raise AssertionError

    monkeypatch.setattr("mixfield.apps.field_model.changes_of", no_search)
    posterior = mf.segment(*several_doubts(), 1, model=replace(PLAIN, search=PLAIN.kernels))
    assert len(posterior.modes) == 1


def test_only_a_search_finds_no_doubt(doubtful):
    model = replace(PLAIN, least_gain=9.0)
    one, two = (mf.segment(*doubtful, count, model=model) for count in (1, 2))
    assert len(one.modes) == len(two.modes) == 1
    assert (one.calibration.without_doubt, two.calibration.without_doubt) == (False, True)
    assert one.notes == ()
    alone = mf.segment(*doubtful, 4, model=replace(model, kernels=None))
    assert not alone.calibration.without_doubt
    assert alone.notes == ()


def test_a_note_says_why_segmentations_are_missing(doubtful):
    few, all_useful = (mf.segment(*doubtful, count, model=PLAIN) for count in (2, 9))
    assert few.notes == (f"offered the 2 most useful of {len(all_useful.modes)} segmentations",)


def test_without_kernels_the_scores_alone_decide(doubtful):
    image, probs = doubtful
    posterior = mf.segment(image, probs, model=replace(PLAIN, kernels=None))
    assert len(posterior.modes) == 1
    np.testing.assert_array_equal(posterior.labelings()[0], probs.argmax(-1))


def test_the_exponent_scales_the_costs(doubtful):
    image, probs = doubtful
    costs = [replace(PLAIN, exponent=u).energy(probs, image[..., None]).costs for u in (1.0, 0.5)]
    np.testing.assert_allclose(costs[1], 0.5 * costs[0], rtol=1e-6)


def test_alternatives_with_straight_edges_are_left_out():
    """A box and a disc in an image that has contrast in its lower half only."""
    rows, columns = np.indices((40, 48))
    box = (rows >= 4) & (rows < 14) & (columns >= 4) & (columns < 20)
    disc = (rows - 9) ** 2 + (columns - 34) ** 2 < 64
    modes = [
        mf.Mode(np.stack([~region, region], -1).astype(float), -float(k))
        for k, region in enumerate((~(rows >= 0), box, disc))
    ]
    found, probs = mf.MixturePosterior(tuple(modes)), np.full((40, 48, 2), 0.5)
    picture = np.random.default_rng(0).uniform(0, np.where(rows < 20, 1, 250))[..., None]

    def offered(image):
        return [bool(labels[9, 34]) for labels in PLAIN.calibrate(found, probs, image).labelings()[1:]]

    assert sorted(offered(None)) == [False, True]
    assert offered(picture) == [True]  # the disc alone
    assert sorted(offered(picture[::-1])) == [False, True]  # where the image has contrast, the box may be in it


def test_a_model_or_kernels_not_both(doubtful):
    with pytest.raises(MixfieldError, match="not both"):
        mf.segment(*doubtful, model=PLAIN, kernels=mf.Kernels())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"model": "model.toml"}, "model must be a FieldModel, got str; read a file by FieldModel.load"),
        ({"kernels": {}}, "kernels must be mf.Kernels.*got dict"),
        ({"model": mf.Kernels()}, "got Kernels"),
    ],
)
def test_other_things_than_models_and_kernels_are_refused(doubtful, tmp_path, options, sentence):
    with pytest.raises(MixfieldError, match=sentence):
        mf.segment(*doubtful, **options)
    with pytest.raises(MixfieldError, match=sentence):
        mf.segment_large(*doubtful, tmp_path / "labels.npy", **options)


def test_kernels_of_an_energy_are_not_ignored(doubtful):
    with pytest.raises(MixfieldError, match=r"kernels must be mf\.Kernels"):
        segmentation_energy(*doubtful, kernels={})


def test_with_kernels_the_weights_are_those_of_the_paper(doubtful):
    posterior = mf.segment(*doubtful, n_modes=2, kernels=mf.Kernels.deeplab())
    assert posterior.calibration is None
    assert posterior.weights.tolist() == posterior.model_weights.tolist()


def test_a_stronger_field_gives_the_alternatives_and_the_fitted_one_the_answer(doubtful):
    image, probs = doubtful
    weak = replace(PLAIN, kernels=replace(PLAIN.kernels, smooth_weight=0.1, weight=0.1))
    assert len(mf.segment(image, probs, 3, model=weak).modes) == 1
    strong = mf.segment(image, probs, 3, model=replace(weak, search=PLAIN.kernels))
    assert len(strong.modes) > 1
    answer = mf.mean_field(weak.energy(probs, image[..., None].astype(float)))
    np.testing.assert_array_equal(strong.modes[0].marginals, answer.marginals)
    assert (strong.labelings()[1] != strong.labelings()[0]).mean() > 0.4


def test_the_default_model_is_calibrated_on_many_images():
    model = FieldModel.default()
    assert model.images == 85  # photographs, each in two sizes and with the scores of two networks
    assert {row.name for row in model.table} >= {"negative log-likelihood", "mean IoU"}


def test_the_balance_favours_labels_of_few_pixels_that_occur():
    probs = np.full((10, 10, 3), [0.8, 0.15, 0.05])
    probs[:1, :5] = [0.3, 0.65, 0.05]
    image = np.zeros((10, 10, 1))
    plain, balanced = (replace(PLAIN, kernels=None, balance=b).energy(probs, image).unary for b in (0.0, 0.2))
    shares = probs.reshape(-1, 3).mean(0)
    change = (balanced - plain)[0, 0]
    np.testing.assert_allclose(change, [0.2 * np.log(shares[0]), 0.2 * np.log(shares[1]), 0.0], atol=1e-6)


def test_the_scale_of_scores_does_not_matter():
    """Nor do logits instead of probabilities: costs, alternatives and marginals are the same."""
    image, probs = several_doubts()
    probs[..., 2] += np.random.default_rng(0).uniform(0, 0.2, image.shape[:2])
    probs /= probs.sum(-1, keepdims=True)
    model = replace(PLAIN, search=PLAIN.kernels, balance=0.1)
    expected = mf.segment(image, probs, model=model)
    uneven = probs * np.linspace(0.01, 3, image.shape[1])[:, None]
    for scores, logits in ((0.01 * probs, False), (uneven, False), (np.float16(probs), False), (np.log(probs), True)):
        found = mf.segment(image, scores, model=model, logits=logits)
        np.testing.assert_array_equal(found.labelings(), expected.labelings())
        np.testing.assert_allclose(found.weights, expected.weights, atol=2e-3)
        np.testing.assert_allclose(found.marginals(), expected.marginals(), atol=3e-3)


def test_the_share_of_a_label_has_a_floor():
    probs = np.full((100, 100, 2), [0.999, 0.001])
    probs[0, 0] = [0.1, 0.9]
    plain, balanced = (
        replace(PLAIN, kernels=None, balance=b).energy(probs, np.zeros((100, 100, 1))).unary for b in (0.0, 0.2)
    )
    np.testing.assert_allclose((balanced - plain)[5, 5, 1], 0.2 * np.log(0.02), atol=1e-5)
