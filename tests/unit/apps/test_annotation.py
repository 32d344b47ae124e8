"""Annotations: strokes are never overridden, undo restores exactly, files resume."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_images import two_patches

import mixfield as mf
from mixfield.apps.annotation import REMEMBERED
from mixfield.errors import FileFormatError, MixfieldError
from mixfield.interactive import canvas, region_question
from mixfield.interactive.annotation_actions import CHOICE, painted

pytest.importorskip("skimage")

NAMES = ["background", "disc"]


def picture(height=48, width=64):
    """Two discs on a gradient, the second of a colour between the two."""
    y, x = np.mgrid[:height, :width]
    image = np.stack([60 + x, 90 + 0 * x, 140 - y], -1).astype(np.float64)
    for column, colour in ((0.3, (200, 60, 40)), (0.7, (150, 80, 80))):
        image[(y - 0.5 * height) ** 2 + (x - column * width) ** 2 < (0.2 * height) ** 2] = colour
    return (image + np.random.default_rng(0).normal(0, 6, image.shape)).clip(0, 255).astype(np.uint8)


def annotated():
    annotation = mf.Annotation(picture(), NAMES)
    annotation.click(19, 24, "disc")
    annotation.add_stroke([(3, 3), (60, 3)], "background")
    return annotation


def test_one_click_marks_the_disc():
    annotation = mf.Annotation(picture(), NAMES)
    annotation.click(19, 24, "disc")
    labels = annotation.labels()
    assert labels.shape == (48, 64)
    assert labels.dtype == np.uint8
    assert labels[24, 12:27].mean() > 0.9
    assert labels[:8].mean() < 0.1


def test_nothing_is_known_at_first():
    annotation = mf.Annotation(picture(), NAMES)
    assert not annotation.labels().any()
    (only,) = annotation.suggest()
    assert only.weight == 1.0
    assert annotation.question() is None
    assert annotation.undo() is None


def doubtful():
    """Scores that leave much in doubt, and a stroke that changes nothing."""
    annotation = mf.Annotation(two_patches()[0], NAMES, two_patches()[1])
    annotation.add_stroke([(3, 3)], None)
    return annotation


def test_suggestions_differ_and_have_weights():
    suggestions = doubtful().suggest(4)
    assert 1 < len(suggestions) <= 4
    assert sum(one.weight for one in suggestions) == pytest.approx(1)
    assert not suggestions[0].differs.any()
    for one in suggestions[1:]:
        assert 0.1 < one.differs.mean() < 0.4
        np.testing.assert_array_equal(one.differs, one.labels != suggestions[0].labels)
    np.testing.assert_array_equal(suggestions[0].labels, doubtful().labels())
    assert len(doubtful().suggest(1)) == 1


def test_a_choice_is_shown_and_taken_back():
    annotation = doubtful()
    before, suggestions = annotation.labels(), annotation.suggest()
    annotation.choose(1)
    np.testing.assert_array_equal(annotation.labels(), suggestions[1].labels)
    annotation.undo()
    np.testing.assert_array_equal(annotation.labels(), before)
    annotation.choose(1, 2)
    np.testing.assert_array_equal(annotation.labels(), suggestions[1].labels)
    annotation.undo()
    for k, n in ((-1, 4), (len(suggestions), 4), (1, 1)):
        with pytest.raises(MixfieldError, match="k must be"):
            annotation.choose(k, n)


def test_a_choice_is_evidence_for_what_follows():
    annotation = doubtful()
    before = annotation._state.modes(4).field
    annotation.choose(1)
    annotation.add_stroke([(60, 44)], None)  # erases nothing, so that the field is the same but for the choice
    chosen = annotation.actions[-2]
    again = annotation._state.modes(4).field
    inside = np.unique(again.graph.regions[chosen.differ])
    label = chosen.reduced.ravel()[[np.flatnonzero(again.graph.regions == region)[0] for region in inside]]
    change = again.energy.unary[inside] - before.energy.unary[inside]
    assert chosen.differ.any()
    np.testing.assert_allclose(change[np.arange(len(inside)), label], -CHOICE, atol=1e-5)
    np.testing.assert_allclose(change[np.arange(len(inside)), 1 - label], 0, atol=1e-5)


def test_answers_decide_their_region(monkeypatch):
    monkeypatch.setattr(region_question, "SMALLEST", 0.0)
    scores = np.full((48, 64, 2), 0.5)
    annotation = mf.Annotation(picture(), NAMES, scores)
    annotation.click(19, 24, "disc")
    question = annotation.question()
    assert question.text.startswith(f"Is the marked region {NAMES[question.new]}?")
    assert 0 < question.probability < 1
    assert question.share == pytest.approx(question.region.mean())
    assert question.expected_gain == pytest.approx(question.share * min(question.probability, 1 - question.probability))
    for yes in (True, False):
        annotation.answer(question, yes)
        wanted = question.new if yes else question.old
        found = annotation._state.modes(4)  # the border of pixels is filtered afterwards
        labels = found.labeling(0)[found.field.graph.regions]
        assert (labels[question.canvas_region] == wanted).mean() > 0.8
        again = annotation.question()
        assert again is None or (again.region & question.region).sum() <= 0.5 * (again.region | question.region).sum()
        annotation.undo()


def test_scores_are_evidence():
    scores = np.full((48, 64, 2), (0.7, 0.3))
    scores[10:38, 36:56] = 0.02, 0.98
    annotation = mf.Annotation(picture(), NAMES, scores)
    assert annotation.labels()[24, 45] == 1
    assert annotation.labels()[24, 5] == 0
    annotation.click(45, 24, "background")
    assert annotation.labels()[24, 45] == 0


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["stroke", "erase", "choose", "answer", "undo"]),
        st.tuples(st.integers(0, 63), st.integers(0, 47)),
        st.tuples(st.integers(0, 63), st.integers(0, 47)),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=5,
)


def perform(annotation, kind, start, end, label):
    if kind == "stroke":
        annotation.add_stroke([start, end], label, radius=2)
    elif kind == "erase":
        annotation.add_stroke([start, end], None, radius=4)
    elif kind == "choose":
        annotation.choose(min(label, len(annotation.suggest()) - 1))
    elif kind == "answer" and (question := annotation.question()) is not None:
        annotation.answer(question, label == 1)
    elif kind == "undo":
        annotation.undo()


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ACTIONS)
def test_strokes_are_never_overridden_undo_is_exact_and_files_resume(actions):
    image = picture()
    annotation = mf.Annotation(image, ["a", "b", "c"])
    for action in actions:
        before, count = annotation.labels().copy(), len(annotation.actions)
        perform(annotation, *action)
        strokes = painted(annotation.actions, annotation.shape)
        for one in (annotation.labels(), *(suggestion.labels for suggestion in annotation.suggest())):
            if not annotation.actions or action[0] != "choose":
                np.testing.assert_array_equal(one[strokes >= 0], strokes[strokes >= 0])
        if len(annotation.actions) > count:
            undone = mf.Annotation(image, ["a", "b", "c"])
            undone._actions = list(annotation.actions)
            undone.labels()
            undone.undo()
            np.testing.assert_array_equal(undone.labels(), before)


def test_save_and_load_are_identical(tmp_path):
    annotation = doubtful()
    question = annotation.question()
    annotation.choose(1)
    annotation.answer(question, True)
    annotation.click(60, 24, "disc")
    annotation.save(tmp_path / "a.json")
    again = mf.Annotation.load(tmp_path / "a.json", *two_patches())
    assert again.names == tuple(NAMES)
    np.testing.assert_array_equal(again.labels(), annotation.labels())
    for one, other in zip(again.suggest(), annotation.suggest(), strict=True):
        np.testing.assert_array_equal(one.labels, other.labels)
        assert one.weight == other.weight
    again.save(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    for _ in range(3):
        again.undo()
        annotation.undo()
        np.testing.assert_array_equal(again.labels(), annotation.labels())


def test_files_of_other_images_are_refused(tmp_path):
    path = tmp_path / "a.json"
    annotated().save(path)
    with pytest.raises(MixfieldError, match="64 x 48 pixels"):
        mf.Annotation.load(path, picture(40, 64))
    path.write_text(json.dumps({"format": "something"}))
    with pytest.raises(FileFormatError, match="not a saved annotation"):
        mf.Annotation.load(path, picture())


def test_few_states_are_kept():
    annotation = annotated()
    for x in range(10, 60, 10):
        annotation.click(x, 44, "background")
        annotation.labels()
    assert len(annotation._states) == REMEMBERED
    after = annotation.labels()
    for _ in range(3):
        annotation.undo()
    for x in range(30, 60, 10):
        annotation.click(x, 44, "background")
    np.testing.assert_array_equal(annotation.labels(), after)


def test_large_images_are_segmented_on_a_reduced_one(monkeypatch):
    monkeypatch.setitem(canvas.LARGEST, 2, 48 * 64)
    big = picture(96, 128)
    annotation = mf.Annotation(big, NAMES)
    annotation.click(38, 48, "disc")
    annotation.add_stroke([(5, 5), (120, 7)], "background", radius=1)
    labels = annotation.labels()
    assert labels.shape == (96, 128)
    strokes = painted(annotation.actions, (96, 128))
    np.testing.assert_array_equal(labels[strokes >= 0], strokes[strokes >= 0])
    assert labels[48, 28:48].mean() > 0.9
    question = annotation.question()
    assert question is None or question.region.shape == (96, 128)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: mf.Annotation(picture(), ["one"]), "labels must be two or more"),
        (lambda: mf.Annotation(picture(), ["one", "one"]), "labels must be two or more"),
        (lambda: mf.Annotation(picture(), "ab"), "labels must be two or more"),
        (lambda: mf.Annotation(picture(), NAMES, np.ones((48, 64, 3))), "scores must have shape"),
        (lambda: annotated().click(1, 1, "cat"), "label must be one of background, disc"),
        (lambda: annotated().click(1, 1, 2), "label must"),
        (lambda: annotated().add_stroke([1, 2], 0), "points must be corners"),
        (lambda: annotated().add_stroke([(1, np.inf)], 0), "points"),
        (lambda: annotated().add_stroke([(1, 1)], 0, radius=0), "radius must be"),
        (lambda: annotated().suggest(0), "n must be"),
    ],
)
def test_wrong_input(call, match):
    with pytest.raises(MixfieldError, match=match):
        call()


def test_only_clicks_on_what_was_seen_are_corrections():
    annotation = annotated()
    annotation.click(45, 24, "disc")
    assert [action.shown is None for action in annotation.actions] == [False, True, True]
    annotation.undo()
    before = annotation.labels()
    annotation.click(45, 24, "disc")
    np.testing.assert_array_equal(annotation.actions[-1].shown, before)


def test_a_late_click_changes_one_region():
    annotation = annotated()
    annotation.labels()
    annotation.click(45, 24, "disc")
    before = annotation.labels()
    annotation.click(60, 44, "background")  # is background already
    assert (annotation.labels() != before).mean() < 0.02


def test_scores_are_shown_before_the_first_action():
    scores = np.random.default_rng(0).dirichlet(np.ones(2), (48, 64))
    np.testing.assert_array_equal(mf.Annotation(picture(), NAMES, scores).labels(), scores.argmax(-1))


def test_a_canvas_of_another_size_is_refused(tmp_path, monkeypatch):
    annotation = annotated()
    annotation.save(tmp_path / "a.json")
    monkeypatch.setitem(canvas.LARGEST, 2, 1000)
    with pytest.raises(FileFormatError, match="another size"):
        mf.Annotation.load(tmp_path / "a.json", picture())
