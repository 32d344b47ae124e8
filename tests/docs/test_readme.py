"""The commands of the README, in order, on small files; `test_documentation` runs its Python blocks."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import mixfield as mf
from mixfield.cli import app
from mixfield.io.uai import write_uai

README = Path(__file__).parents[2] / "README.md"


def test_the_first_command_is_the_demo():
    text = README.read_text(encoding="utf-8")
    first = next(line for line in text.splitlines() if line.startswith("python3 -m venv"))
    assert first.endswith("mixfield demo")
    assert "[demo]" in first


def test_a_picture_of_every_kind_of_page():
    pictures = set(re.findall(r"docs/images/report-(\w+)\.png", README.read_text(encoding="utf-8")))
    assert pictures == {"segmentation", "people", "field", "video"}


def write_scored_images(images: Path, scores: Path, *names: str) -> None:
    """Write images of a moving bright square, and scores that agree with it."""
    picture = pytest.importorskip("PIL.Image")
    images.mkdir(parents=True, exist_ok=True)
    scores.mkdir(parents=True, exist_ok=True)
    texture = np.random.default_rng(0).integers(0, 60, (40, 48))
    for t, name in enumerate(names):
        inside = np.zeros((32, 40), bool)
        inside[8 - t : 20 - t, 10 - t : 26 - t] = True
        view = texture[t : t + 32, t : t + 40] + 150 * inside
        picture.fromarray(view.astype(np.uint8)).save(images / name)
        front = np.where(inside, 0.7, 0.2)
        np.save(scores / f"{Path(name).stem}.npy", np.stack([1 - front, front], -1).astype(np.float32))


@pytest.fixture
def small_files(tmp_path, monkeypatch):
    """Small files with the names that the README uses."""
    monkeypatch.chdir(tmp_path)
    write_uai("model.uai", mf.datasets.four_zones(4))
    Path("model.uai.evid").write_text("1 0 1\n")
    write_scored_images(Path("."), Path("probs"), "photo.jpg")
    Path("probs/photo.npy").rename("probs.npy")
    write_scored_images(Path("photos"), Path("scores"), "a.png", "b.jpg")
    write_scored_images(Path("frames"), Path("frame-scores"), "000.png", "001.png", "002.png")
    write_scored_images(Path("annotated/images"), Path("annotated/scores"), "a.png", "b.png")
    picture = pytest.importorskip("PIL.Image")
    Path("annotated/truth").mkdir()
    for name in ("a", "b"):
        labels = np.load(f"annotated/scores/{name}.npy")[..., 1] > 0.5
        picture.fromarray(labels.astype(np.uint8)).save(f"annotated/truth/{name}.png")


def write_cameras(walk) -> None:
    """Write calibrations and masks of a synthetic scene."""
    cv2 = pytest.importorskip("cv2")
    for c, (name, camera) in enumerate(zip(("left", "right"), walk.scene.cameras, strict=True)):
        storage = cv2.FileStorage(f"{name}.yaml", cv2.FILE_STORAGE_WRITE)
        for key, value in (("K", camera.lens.matrix), ("R", camera.rotation), ("t", camera.translation)):
            storage.write(key, value)
        storage.write("image_width", camera.width)
        storage.write("image_height", camera.height)
        storage.release()
        for t, mask in enumerate(walk.masks[:, c]):
            cv2.imwrite(f"{name}-{t:03d}.png", 255 * mask.astype(np.uint8))


def edit_scene() -> None:
    """Edit the scene file that ``--init`` wrote, as the README says: the area, and the masks of each camera."""
    text = re.sub(r"^area = .*$", "area = [0, 0, 6, 6]", Path("scene.toml").read_text(), flags=re.MULTILINE)
    for name in ("left", "right"):
        text = re.sub(r'^footage = ".*"$', f'masks = "{name}-{{frame:03d}}.png"', text, count=1, flags=re.MULTILINE)
    Path("scene.toml").write_text(text)


@pytest.mark.usefixtures("small_files")
def test_its_commands_run_in_order():
    write_cameras(mf.datasets.walking_people(2, 2, 3, rng=1))
    blocks = re.findall(r"```sh\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("mixfield ")]
    assert len(lines) >= 10
    for line in lines:
        words = shlex.split(line, comments=True)[1:]
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, (line, done.output, done.exception)
        if "--init" in words:
            edit_scene()
    assert Path("report.html").exists()
    assert Path("modes/report.html").exists()
    assert json.loads(Path("all/summary.json").read_text())["failures"] == {}
    assert Path("video/report.html").exists()
