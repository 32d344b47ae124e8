"""`mixfield.report`: a page for every kind of result."""

from __future__ import annotations

import re

import numpy as np
import pytest
from page_examples import random_posterior
from page_reading import facts_of

import mixfield as mf
from mixfield.apps.video import VideoSegmentation
from mixfield.errors import MixfieldError
from mixfield.reports.report import page_of
from mixfield.reports.video_page import VideoFrame


def kind_of(path):
    return re.search(r'data-kind="(\w+)"', path.read_text(encoding="utf-8"))[1]


def test_a_posterior(tmp_path):
    post = mf.infer(mf.datasets.four_zones(6), 2)
    page = mf.report(post, tmp_path / "a.html", title="Four < zones", exact_log_z=post.log_z + 1.0)
    assert page == tmp_path / "a.html"
    assert kind_of(page) == "field"
    text = page.read_text(encoding="utf-8")
    assert "<h1>Four &lt; zones</h1>" in text
    assert "1.0000 nats from the truth" in text


def test_a_posterior_over_an_image(tmp_path):
    post, image = random_posterior()
    page = mf.report(post, str(tmp_path / "a.html"), image=image, names=("sky", "sea", "land"))
    assert kind_of(page) == "segmentation"
    assert [label["name"] for label in facts_of(page.read_text())["labels"]] == ["sky", "sea", "land"]


def test_a_page_replaces_an_old_one(tmp_path):
    (tmp_path / "a.html").write_text("old")
    with pytest.raises(MixfieldError, match="size of the posterior"):
        mf.report(random_posterior()[0], tmp_path / "a.html", image=np.zeros((3, 3)))
    assert (tmp_path / "a.html").read_text() == "old"
    mf.report(random_posterior()[0], tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text().startswith("<!doctype html>")
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


@pytest.fixture(scope="module")
def people():
    walk = mf.datasets.walking_people(n_people=2, n_frames=3, rng=1)
    posteriors = [mf.detect(walk.scene, list(masks), 2) for masks in walk.masks]
    return walk, posteriors, mf.track(posteriors, walk.scene, frame_rate=4.0)


def test_tracks(people, tmp_path):
    tracks = people[2]
    page = mf.report(tracks, tmp_path / "a.html")
    assert kind_of(page) == "people"
    facts = facts_of(page.read_text())
    assert len(facts["tracks"]) == len(tracks.by_identity)
    assert facts["cameras"] == []


@pytest.mark.parametrize("numbers", [None, [4, 6, 8]])
def test_posteriors_of_frames(people, tmp_path, numbers):
    walk, posteriors, tracks = people
    pictures = [list(masks) for masks in walk.masks]
    if numbers is not None:
        posteriors, pictures = (dict(zip(numbers, entries, strict=True)) for entries in (posteriors, pictures))
    page = mf.report(posteriors, tmp_path / "a.html", scene=walk.scene, pictures=pictures, tracks=tracks)
    facts = facts_of(page.read_text())
    assert [frame["number"] for frame in facts["frames"]] == (numbers or [0, 1, 2])
    assert [frame["chosen"] for frame in facts["frames"]] == tracks.chosen_modes.tolist()
    assert len(facts["cameras"]) == 2
    with pytest.raises(MixfieldError, match="needs scene"):
        mf.report(posteriors, tmp_path / "b.html")


@pytest.fixture(scope="module")
def video():
    posteriors = [random_posterior(modes=2)[0], None, random_posterior(modes=3)[0]]
    images = [random_posterior()[1], None, random_posterior()[1]]
    labels = np.stack([posteriors[0].labelings()[1], np.full((6, 8), -1), posteriors[2].labelings()[0]])
    return (
        VideoSegmentation(labels, np.array([1, -1, 0]), np.full(3, 0.6), np.full(3, np.nan), (0, 2)),
        images,
        posteriors,
    )


def test_a_video_with_its_images_and_posteriors(video, tmp_path):
    result, images, posteriors = video
    page = mf.report(result, tmp_path / "a.html", images=images, posteriors=posteriors, names=("a", "b", "c"))
    assert kind_of(page) == "video"
    frames = facts_of(page.read_text())["frames"]
    assert [frame["number"] for frame in frames] == [0, 2]  # frame 1 is missing
    assert [frame["chosen"] for frame in frames] == [1, 0]
    assert [len(frame["weights"]) for frame in frames] == [2, 3]
    with pytest.raises(MixfieldError, match="images must have one entry per frame, 3, got 1"):
        mf.report(result, tmp_path / "b.html", images=images[:1])


def test_a_video_alone(video, tmp_path):
    page = mf.report(video[0], tmp_path / "a.html")
    assert "2 frames with one segmentation each" in page.read_text()
    assert [frame["weights"] for frame in facts_of(page.read_text())["frames"]] == [[1.0], [1.0]]


def test_video_frames(tmp_path):
    labels = np.zeros((2, 4, 6), int)
    frame = VideoFrame(np.zeros((4, 6), np.uint8), labels[0], labels, [0.7, 0.3], chosen=1)
    page = mf.report([frame, frame], tmp_path / "a.html", frame_rate=5.0)
    assert kind_of(page) == "video"
    assert facts_of(page.read_text())["interval"] == 200


def test_saved_results(tmp_path):
    mf.infer(mf.datasets.random_ising(3, rng=0), 2).save(tmp_path / "grid.npz")
    for result in (tmp_path / "grid.npz", str(tmp_path / "grid.npz")):
        page = mf.report(result, tmp_path / "a.html")
        assert "<h1>grid</h1>" in page.read_text()


@pytest.mark.parametrize("result", [3, np.zeros(3), [1, 2]])
def test_other_results_are_refused(tmp_path, result):
    with pytest.raises(MixfieldError, match="MixturePosterior"):
        mf.report(result, tmp_path / "a.html")
    assert list(tmp_path.iterdir()) == []


def test_unknown_options_name_the_known_ones(tmp_path):
    with pytest.raises(MixfieldError, match=r"MixturePosterior takes the options title, .*scribbles, got 'scene'"):
        mf.report(random_posterior()[0], tmp_path / "a.html", scene=None)


def test_a_type_can_be_registered(tmp_path):
    class Result:
        pass

    @page_of.register(Result)
    def _(_result, *, title="mine"):
        return f"<h1>{title}</h1>"

    assert mf.report(Result(), tmp_path / "a.html", title="ours").read_text() == "<h1>ours</h1>"
