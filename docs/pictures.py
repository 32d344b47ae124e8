"""Regenerate the images of the documentation: ``python docs/pictures.py`` (extras demo, plot, annotate and browser)."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

import mixfield as mf
from mixfield.apps import ModePath, segmentation_energy
from mixfield.datasets.photograph import STROKES
from mixfield.reports import demos
from mixfield.reports.video_page import VideoFrame, video_page

HERE = Path(__file__).parent / "images"
COLOURS = 200  # of the palette: keeps the files small


def demo_figure() -> None:
    """The scribbles and the four modes side by side."""
    matplotlib.use("Agg")
    from matplotlib import pyplot

    photo = mf.datasets.scribbled_photo()
    post = mf.segment(photo.image, photo.scribbles)
    given = photo.image.copy()
    given[photo.scribbles == 0], given[photo.scribbles == 1] = (40, 110, 255), (255, 221, 0)
    figure, axes = pyplot.subplots(1, 5, figsize=(13, 3), layout="constrained")
    axes[0].imshow(given)
    axes[0].set_title("scribbles")
    axes[0].set_axis_off()
    post.plot(photo.image, axes=axes[1:])
    figure.savefig(HERE / "demo.png", dpi=85, bbox_inches="tight")
    _small(HERE / "demo.png")


def ambiguous_video(frames: int = 14) -> str:
    """The page of a video: a ball that moves, and that the scores miss in every fourth frame."""
    rows, columns = np.mgrid[:60, :100]
    texture = np.random.default_rng(0).integers(0, 30, (60, 100, 1), np.uint8)
    kernels = mf.Kernels(smooth_sxy=2, smooth_weight=2, sxy=15, srgb=20, weight=4)
    images, single, posteriors, evidence = [], [], [], []
    for t in range(frames):
        ball = (rows - 30) ** 2 + (columns - 15 - 5 * t) ** 2 < 180
        image = (np.where(ball[..., None], (205, 75, 55), (70, 90, 110)) + texture).astype(np.uint8)
        scores = np.where(ball, 0.35 if t % 4 == 2 else 0.85, 0.15)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            energy = segmentation_energy(image, scores, kernels=kernels)
            single.append(mf.mean_field(energy).labeling())
            posteriors.append(mf.infer(energy, n_modes=3))
        evidence.append(scores)
        images.append(image)
    path = ModePath()
    choices = [
        choice
        for image, post, scores in zip(images, posteriors, evidence, strict=True)
        for choice in path.advance(image, post, scores)
    ] + path.finish()
    pages = [
        VideoFrame(image, labels, post.labelings(), choice.probabilities, choice.mode)
        for image, labels, post, choice in zip(images, single, posteriors, choices, strict=True)
    ]
    return video_page(pages, names=("background", "ball"), title="A ball that the scores miss in some frames")


def screenshots(folder: Path) -> None:
    """Screenshots of the four kinds of pages."""

    def quiet(done: int) -> None:
        pass

    demos.photograph(folder / "photo", progress=quiet)
    demos.people(folder / "people", progress=quiet)
    demos.graph(folder / "graph", progress=quiet)
    (folder / "video").mkdir()
    (folder / "video" / "report.html").write_text(ambiguous_video(), encoding="utf-8")
    program = shutil.which("chromium") or sys.exit("no chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name, source, height, dark in (
            ("segmentation", "photo", 860, False),
            ("people", "people", 700, True),
            ("field", "graph", 640, False),
            ("video", "video", 860, False),
        ):
            scheme = "dark" if dark else "light"
            page = browser.new_context(viewport={"width": 1100, "height": height}, color_scheme=scheme).new_page()
            page.goto((folder / source / "report.html").as_uri())
            page.wait_for_selector("body[data-ready]")
            if name == "segmentation":
                box = page.locator("#view").bounding_box()
                page.mouse.move(box["x"] + 0.78 * box["width"], box["y"] + 0.85 * box["height"])
            elif name in ("people", "video"):
                page.locator("#time").fill("6" if name == "video" else "5")  # a frame whose mode is not the heaviest
                page.locator("#play").focus()
            target = HERE / f"report-{name}.png"
            page.screenshot(path=target)
            _small(target)
        browser.close()


def annotation_page(folder: Path) -> None:
    """A screenshot of ``mixfield annotate``: strokes, alternatives, a question."""
    photo = mf.datasets.scribbled_photo()
    (folder / "photos").mkdir()
    Image.fromarray(photo.image).save(folder / "photos" / "astronaut.png")
    (folder / "names.txt").write_text("\n".join(photo.names))
    words = ["annotate", str(folder / "photos"), "--labels", str(folder / "names.txt"), "--no-open", "--json"]
    program = shutil.which("chromium") or sys.exit("no chromium")
    with (
        subprocess.Popen([sys.executable, "-m", "mixfield", *words], stdout=subprocess.PIPE, text=True) as server,
        sync_playwright() as playwright,
    ):
        assert server.stdout is not None
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1100, "height": 900})
        page.goto(json.loads(server.stdout.readline())["address"])
        page.wait_for_selector("body[data-ready]", timeout=120_000)
        box = page.locator("#view").bounding_box()
        scale = min(box["width"], box["height"]) / len(photo.image)
        left, top = box["x"] + (box["width"] - 256 * scale) / 2, box["y"] + (box["height"] - 256 * scale) / 2
        for label, corners in (STROKES[k] for k in (1, 4, 7, 8)):
            page.locator(f"[name=label][value='{label}']").check()
            page.mouse.move(left + scale * corners[0][0], top + scale * corners[0][1])
            page.mouse.down()
            for x, y in corners[1:]:
                page.mouse.move(left + scale * x, top + scale * y, steps=5)
            page.mouse.up()
            page.wait_for_selector("body[data-waiting='0']", timeout=120_000)
        page.locator("#view").blur()
        page.screenshot(path=HERE / "annotate.png")
        browser.close()
        server.terminate()
    _small(HERE / "annotate.png")


def _small(path: Path) -> None:
    Image.open(path).convert("RGB").quantize(COLOURS).save(path, optimize=True)


if __name__ == "__main__":
    demo_figure()
    with tempfile.TemporaryDirectory() as scratch:
        screenshots(Path(scratch))
    with tempfile.TemporaryDirectory() as scratch:
        annotation_page(Path(scratch))
