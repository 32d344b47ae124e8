"""Results of an earlier run are kept only for the same settings and inputs: segment, video, detect.

Another setting is refused by name, and computed in an emptied folder; another input is computed again in place.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import fields, replace

import numpy as np
import pytest
from command_line import two_halves, write_annotated
from recordings import save_recording
from typer.testing import CliRunner

import mixfield as mf
from mixfield.apps import FieldModel, field_model, segmentation
from mixfield.cli import app
from mixfield.cli.segment_images import SegmentImage
from mixfield.cli.video_frames import SegmentFrame
from mixfield.errors import MixfieldError
from mixfield.io.detection_run import DetectionTask
from mixfield.io.footage import CameraFootage, Footage


class Batch:
    """A verb with an output folder, which counts the items that it computes."""

    def __init__(self, verb, words, out, calls):
        self.command, self.out, self.calls = [verb, *words, "--out", out], out, calls

    def run(self, *more):
        """(number of computed items, error)"""
        before = len(self.calls)
        done = CliRunner().invoke(app, [*map(str, self.command), *map(str, more)])
        assert done.exit_code == 0 or isinstance(done.exception, MixfieldError), done.output
        return len(self.calls) - before, str(done.exception or "")

    def contents(self):
        return {path: path.read_bytes() for path in self.out.rglob("*") if path.is_file()}


@pytest.fixture
def folder(tmp_path):
    """Images with scores, label maps of the same names, and a model of the field."""
    write_annotated(tmp_path)
    write_model(tmp_path / "model.toml", weight=2.0)
    return tmp_path


def write_model(path, **kernels):
    replace(FieldModel.default(), kernels=mf.Kernels(**kernels)).save(path)


@pytest.fixture
def counted(monkeypatch):
    """Computed modes of images."""
    calls, infer = [], mf.infer
    monkeypatch.setattr(mf, "infer", lambda *a, **k: calls.append(1) or infer(*a, **k), raising=False)
    for module in (segmentation, field_model):
        monkeypatch.setattr(module, "infer", lambda *a, **k: calls.append(1) or infer(*a, **k))
    return calls


@pytest.fixture
def segment(folder, counted):
    return Batch("segment", [folder / "images", "--scores", folder / "truth", "--modes", 1], folder / "o", counted)


@pytest.fixture
def video(folder, counted):
    return Batch("video", [folder / "images", "--scores", folder / "scores", "--modes", 1], folder / "o", counted)


@pytest.fixture
def detect(tmp_path, monkeypatch):
    from mixfield.io import detection_run

    calls, found = [], detection_run.detect
    monkeypatch.setattr(detection_run, "detect", lambda *a, **k: calls.append(1) or found(*a, **k))
    scene = save_recording(tmp_path, mf.datasets.walking_people(1, 1, 2, rng=1))
    return Batch("detect", [scene, "--modes", 1, "--pictures", 0], tmp_path / "o", calls)


def check_refused(batch, difference, *options):
    """Another setting: nothing is computed or changed; in an emptied folder everything is computed."""
    before = batch.contents()
    computed, error = batch.run(*options)
    assert computed == 0
    assert "holds results of other settings (" in error
    assert difference in error
    assert batch.contents() == before
    shutil.rmtree(batch.out)
    computed, error = batch.run(*options)
    assert (computed, error) == (3 if "detect" not in batch.command else 2, "")
    assert batch.run(*options) == (0, "")


SETTINGS = {
    "seed": ("seed: 0, now 1", "--seed", 1),
    "modes": ("modes: 1, now 2", "--modes", 2),
    "model": ("model: the default, now another one", "--model", "{folder}/model.toml"),
    "deeplab": ("kernels: the default, now another one", "--model", "deeplab"),
}
EVIDENCE = {
    "certainty": ("evidence.certainty: the default, now 0.8", "--certainty", 0.8),
    "unknown": ("evidence.unknown: the default, now [0]", "--unknown", 0),
    "labels": ("evidence.n_labels: the default, now 5", "--labels", 5),
}


@pytest.mark.parametrize("changed", [*SETTINGS, *EVIDENCE])
def test_other_settings_of_segment(segment, folder, changed):
    assert segment.run() == (3, "")
    assert segment.run() == (0, "")
    difference, *options = (SETTINGS | EVIDENCE)[changed]
    check_refused(segment, difference, *(str(word).format(folder=folder) for word in options))


@pytest.mark.parametrize("changed", SETTINGS)
def test_other_settings_of_video(video, folder, changed):
    assert video.run() == (3, "")
    assert video.run() == (0, "")
    difference, *options = SETTINGS[changed]
    check_refused(video, difference, *(str(word).format(folder=folder) for word in options))


@pytest.mark.parametrize("verb", ["segment", "video"])
def test_logits(verb, folder, counted):
    for file in (folder / "scores").iterdir():
        np.save(file, np.log(np.load(file)) - np.log(np.load(file)).max())
    batch = Batch(
        verb, [folder / "images", "--scores", folder / "scores", "--modes", 1, "--logits"], folder / "o", counted
    )
    assert batch.run() == (3, "")
    assert batch.run() == (0, "")
    batch.command.remove("--logits")
    assert "logits: true, now false" in batch.run()[1]


@pytest.mark.parametrize("verb", ["segment", "video"])
def test_the_content_of_a_model_counts(verb, request, folder):
    batch = request.getfixturevalue(verb)
    options = ("--model", folder / "model.toml")
    assert batch.run(*options) == (3, "")
    (folder / "model.toml").rename(folder / "moved.toml")
    assert batch.run("--model", folder / "moved.toml") == (0, "")
    write_model(folder / "model.toml", weight=3.0)
    check_refused(batch, "model.kernels.weight: 2.0, now 3.0", *options)


@pytest.mark.parametrize("changed", ["criterion", "modes", "area"])
def test_other_settings_of_detect(detect, tmp_path, changed):
    assert detect.run() == (2, "")
    assert detect.run() == (0, "")
    if changed == "area":
        scene = tmp_path / "scene.toml"
        scene.write_text(scene.read_text().replace("[0, 0, 6, 6]", "[0, 0, 6, 5]"))
    options = {"criterion": ("--criterion", "paper"), "modes": ("--modes", 2), "area": ()}[changed]
    difference = {"criterion": 'criterion: "field", now "paper"', "modes": "modes: 1, now 2", "area": "scene: "}[
        changed
    ]
    check_refused(detect, difference, *options)


@pytest.mark.parametrize("verb", ["segment", "video", "detect"])
def test_another_version(verb, request, monkeypatch):
    batch = request.getfixturevalue(verb)
    assert batch.run()[1] == ""
    now = mf.__version__
    monkeypatch.setattr(mf, "__version__", "99.0")
    monkeypatch.setattr("mixfield.io.detection_run.__version__", "99.0")
    computed, error = batch.run()
    assert computed == 0
    assert f'(mixfield: "{now}", now "99.0")' in error


@pytest.mark.parametrize("verb", ["segment", "video", "detect"])
def test_options_that_do_not_change_results(verb, request):
    batch = request.getfixturevalue(verb)
    assert batch.run()[1] == ""
    assert batch.run("--threads", 1) == (0, "")


@pytest.mark.parametrize("verb", ["segment", "video"])
def test_inputs_of_equal_size_and_time(verb, folder, counted):
    """Scores of another network have the size of the first, and files from an archive may have its time."""
    batch = Batch(verb, [folder / "images", "--scores", folder / "scores", "--modes", 1], folder / "o", counted)
    files = [folder / "scores" / "a.npy", folder / "images" / "b.png"]
    for file in files:
        os.utime(file, ns=(0, 10**18))
    assert batch.run() == (3, "")
    _, probs, _ = two_halves(7)
    sizes = [file.stat().st_size for file in files]
    np.save(files[0], probs)
    content = bytearray(files[1].read_bytes())
    content[-1] ^= 1  # of a checksum that is not read
    files[1].write_bytes(content)
    for file in files:
        os.utime(file, ns=(0, 10**18))
    assert [file.stat().st_size for file in files] == sizes
    assert batch.run() == (2, "")
    assert batch.run() == (0, "")


def test_scores_of_another_folder(folder, counted):
    (folder / "other").mkdir()
    for k, file in enumerate(sorted((folder / "scores").iterdir())):
        np.save(folder / "other" / file.name, two_halves(k + 5)[1] if k else np.load(file))
    for file in [*(folder / "scores").iterdir(), *(folder / "other").iterdir()]:
        os.utime(file, ns=(0, 10**18))
    first, second = (
        Batch("segment", [folder / "images", "--scores", folder / name, "--modes", 1], folder / "o", counted)
        for name in ("scores", "other")
    )
    assert first.run() == (3, "")
    assert second.run() == (2, "")  # the first scores are the same


OTHER = {
    "modes": 9,
    "field": {"kernels": mf.Kernels(weight=9.0)},
    "evidence": {"certainty": 0.7},
    "seed": 9,
    "logits": True,
    "names": ("road", "tree"),
}


@pytest.mark.parametrize("work", [SegmentImage(2, {}, {}, 0, None), SegmentFrame(None, 2, {}, False, 0, None)])
def test_every_field_is_a_setting(work):
    """Except threads, which change no result, the source, whose files are inputs, and the shape of the first one."""
    for field in fields(work):
        if field.name not in ("threads", "source", "shape"):
            assert replace(work, **{field.name: OTHER[field.name]}).settings() != work.settings(), field.name


def test_the_method_of_background_subtraction_is_a_setting():
    scene = mf.datasets.walking_people(1, 1, 1, rng=1).scene
    settings = [
        DetectionTask(scene, Footage((CameraFootage(object(), masks, method),))).settings()
        for masks, method in ((None, "MOG2"), (None, "KNN"), (object(), "MOG2"), (object(), "KNN"))
    ]
    assert settings[0] != settings[1]
    assert settings[2] == settings[3]  # masks are given
