"""`mixfield.fit` on small pictures with a known field."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield._pictures import intensities
from mixfield.apps import fitting
from mixfield.apps.fitting import fit
from mixfield.errors import MixfieldError
from mixfield.metrics.segmentation import mean_iou

SETTINGS = ((1.0, mf.Kernels(smooth_sxy=2, smooth_weight=1.5, sxy=6, srgb=20, weight=2.0)),)


def pictures(count, *, noise, rng):
    """Images of two halves, their truth, and noisy probabilities of label 1."""
    generator = np.random.default_rng(rng)
    for _ in range(count):
        truth = np.zeros((20, 24), int)
        truth[:, generator.integers(6, 18) :] = 1
        image = (60 + 120 * truth + generator.normal(0, 5, truth.shape)).clip(0, 255).astype(np.uint8)
        logits = 1.2 * (2 * truth - 1) + generator.normal(0, noise, truth.shape)
        yield image, np.stack([1 / (1 + np.exp(logits)), 1 / (1 + np.exp(-logits))], -1), truth


@pytest.fixture(scope="module")
def fitted():
    return fit(*zip(*pictures(6, noise=1.5, rng=0), strict=True), settings=SETTINGS, folds=3)


def test_the_loss_falls_on_held_out_images(fitted):
    loss = next(row for row in fitted.table if row.name == "negative log-likelihood")
    assert loss.model < 0.8 * loss.scores
    assert loss.high < 0
    assert fitted.kernels == SETTINGS[0][1]
    assert fitted.blending.mode_exponent > 0


def test_labels_improve_on_new_images(fitted):
    for image, scores, truth in pictures(2, noise=1.5, rng=9):
        posterior = mf.segment(image, scores, model=fitted)
        assert (posterior.labelings()[0] == truth).mean() > (scores.argmax(-1) == truth).mean()


def test_scores_that_are_right_are_left_alone():
    examples = [
        (np.random.default_rng(k).integers(0, 255, (20, 24)).astype(np.uint8), np.eye(2)[t] * 0.98 + 0.01, t)
        for k, t in enumerate(np.random.default_rng(5).integers(0, 2, (4, 20, 24)))
    ]
    model = fit(*zip(*examples, strict=True), settings=SETTINGS, folds=2)
    assert model.kernels is None or model.table[0].model <= model.table[0].scores


@pytest.fixture(scope="module")
def useless():
    """Noise, whose scores are right as they are: no field helps."""
    rng, found = np.random.default_rng(0), []
    for _ in range(4):
        probs = rng.dirichlet(np.ones(3), (20, 24))
        truth = (probs.cumsum(-1) < rng.random((20, 24, 1))).sum(-1)
        found.append((rng.integers(0, 256, (20, 24, 3), dtype=np.uint8), probs, truth))
    return found


def test_scores_that_are_best_are_returned_as_they_are(useless):
    model = fit(*zip(*useless, strict=True), settings=SETTINGS, folds=2)
    assert (model.kernels, model.search) == (None, None)
    for image, probs, _ in useless:
        posterior = mf.segment(image, probs, model=model)
        assert len(posterior.modes) == 1
        np.testing.assert_array_equal(posterior.labelings()[0], probs.argmax(-1))
        np.testing.assert_allclose(posterior.marginals(), probs, atol=1e-5)
    for row in model.table:  # of this model, not of the one that was refused
        assert row.model == pytest.approx(row.scores, abs=1e-5)
        assert max(abs(row.low), abs(row.high)) <= 1e-5
    assert {row.name for row in model.table} >= {"negative log-likelihood", "mean IoU", "calibration error of pixels"}


def test_folds_choose_without_their_images(monkeypatch):
    """The best setting of all images is that of one image alone; its fold must not know."""
    images = list(pictures(4, noise=1.5, rng=0))
    settings = (SETTINGS[0], (0.5, SETTINGS[0][1]))
    numbers = {example.tobytes(): k for k, (_, _, example) in enumerate(images)}

    def losses(image, _, __):
        return [0.0, -9.0 if numbers[image.truth.tobytes()] == 0 else 0.01]

    def ious(image, setting, _):
        return np.array([0.5, 0.1 * numbers[image.truth.tobytes()]] if setting == settings[1] else [0.1, 0.2])

    monkeypatch.setattr(fitting, "field_losses", losses)
    monkeypatch.setattr(fitting, "balance_ious", ious)
    seen = []
    calibrated = fitting.calibrated
    monkeypatch.setattr(
        fitting, "calibrated", lambda model, some: seen.append((model, len(some))) or calibrated(model, some)
    )
    model = fit(*zip(*images, strict=True), settings=settings, folds=4)
    assert [(one.exponent, one.balance, count) for one, count in seen] == [
        (1.0, 0.0, 3), *3 * [(0.5, 0.1, 3)], (0.5, 0.1, 4)
    ]  # fmt: skip
    assert (model.exponent, model.balance) == (0.5, 0.1)
    iou = next(row for row in model.table if row.name == "mean IoU")
    answers = [
        mf.mean_field(one.energy(probs, intensities(image))).labeling()
        for (one, _), (image, probs, _) in zip(seen, images, strict=False)
    ]
    expected = [mean_iou([truth], [labels], 2) for labels, (_, _, truth) in zip(answers, images, strict=True)]
    assert iou.model == pytest.approx(np.mean(expected), abs=1e-5)


@pytest.mark.parametrize(
    ("truth", "sentence"),
    [
        (np.full((20, 24), 2), r"truths must hold labels 0..1, as the scores have, or void \(255\), got 2 at pixel"),
        (np.full((20, 24), -1), "got -1 at pixel"),
        (np.zeros((20, 24)), "truths must hold labels as integers, got float64"),
    ],
)
def test_truths_are_checked_before_any_work(monkeypatch, truth, sentence):
    monkeypatch.setattr(fitting, "field_losses", None)
    images, scores, truths = zip(*pictures(2, noise=1, rng=0), strict=True)
    with pytest.raises(MixfieldError, match=sentence):
        fit(images, scores, [truths[0], truth])


def test_truths_may_be_masks_with_void():
    images, scores, truths = zip(*pictures(2, noise=1, rng=0), strict=True)
    options = {"settings": SETTINGS, "folds": 2}
    expected = fit(images, scores, truths, **options)
    assert fit(images, scores, [truth == 1 for truth in truths], **options) == expected
    unknown = [np.where(np.arange(24) < 2, -1, truth) for truth in truths]
    assert fit(images, scores, unknown, void=-1, **options).images == 2


def test_wrong_lists_are_named():
    images, scores, truths = (list(part) for part in zip(*pictures(3, noise=1, rng=0), strict=True))
    with pytest.raises(MixfieldError, match="as many, got 3, 2 and 3"):
        fit(images, scores[:2], truths)
    with pytest.raises(MixfieldError, match="as many, got 2, 3 and 1"):
        fit(images[:2], scores, iter(truths[:1]))
    with pytest.raises(MixfieldError, match="settings must hold at least one"):
        fit(images, scores, truths, settings=[])
    with pytest.raises(MixfieldError, match="same number of labels for all images, got 2 and 3"):
        fit(images, [*scores[:2], np.ones((20, 24, 3))], truths)


@pytest.mark.parametrize(("names", "name"), [(None, "image 1"), (["a.png", "b.png"], "b.png")])
def test_errors_name_the_image(names, name):
    images, scores, truths = zip(*pictures(2, noise=1, rng=0), strict=True)
    for wrong in ((scores, [truths[0], truths[1] + 7]), ([scores[0], np.ones((20, 24, 3))], truths)):
        with pytest.raises(MixfieldError, match=f"^{name}: (truths|scores) must"):
            fit(images, *wrong, names=names)


def test_two_images_are_needed():
    one = [list(part) for part in zip(*pictures(1, noise=1, rng=0), strict=True)]
    with pytest.raises(MixfieldError, match="at least two"):
        fit(*one)


def test_truth_has_the_size_of_its_image():
    images, scores, truths = (list(part) for part in zip(*pictures(2, noise=1, rng=0), strict=True))
    with pytest.raises(MixfieldError, match="truths must have shape"):
        fit(images, scores, [truths[0][:-1], truths[1]])


def test_the_same_seed_gives_the_same_model(fitted):
    again = fit(*zip(*pictures(6, noise=1.5, rng=0), strict=True), settings=SETTINGS, folds=3)
    assert again == fitted


def test_progress_counts_steps():
    seen = []
    fit(*zip(*pictures(2, noise=1, rng=0), strict=True), settings=SETTINGS, folds=2, progress=seen.append)
    assert seen == [1, 2, 2 + (fitting.STEPS - 1), 2 * fitting.STEPS]


def test_threads_do_not_change_the_model(fitted):
    for threads in (1, 3):
        options = {"settings": SETTINGS, "folds": 3, "solver": mf.Solver(threads=threads)}
        assert fit(*zip(*pictures(6, noise=1.5, rng=0), strict=True), **options) == fitted
