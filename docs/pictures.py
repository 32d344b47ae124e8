"""Make the pictures of the documentation again: ``python docs/pictures.py`` (extras demo, plot and browser)."""

from __future__ import annotations

import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

import mixfield as mf
from mixfield.apps import as_pixels, segmentation_energy, superpixel_energy
from mixfield.reports import demos
from mixfield.reports.video_page import VideoFrame, video_page

HERE = Path(__file__).parent / "images"
COLOURS = 200  # of the palette of a picture, so that it stays small


def demo_figure() -> None:
    """The scribbles and the four interpretations side by side."""
    matplotlib.use("Agg")
    from matplotlib import pyplot

    photo = mf.datasets.scribbled_photo()
    energy = superpixel_energy(photo.image, photo.scribbles, photo.superpixels, certainty=demos.CERTAINTY)
    post = as_pixels(mf.infer(energy, 4), photo.superpixels)
    given = photo.image.copy()
    given[photo.scribbles == 0], given[photo.scribbles == 1] = (40, 110, 255), (255, 221, 0)
    figure, axes = pyplot.subplots(1, 5, figsize=(13, 3), layout="constrained")
    axes[0].imshow(given)
    axes[0].set_title("what was given")
    axes[0].set_axis_off()
    post.plot(photo.image, axes=axes[1:])
    figure.savefig(HERE / "demo.png", dpi=85, bbox_inches="tight")
    _small(HERE / "demo.png")


def doubtful_video(frames: int = 14) -> str:
    """A page about a ball that passes in front of a patch of its own colour."""
    rows, columns = np.mgrid[:60, :100]
    kernels = mf.Kernels(smooth_sxy=2, smooth_weight=2, sxy=15, srgb=20, weight=4)
    images, single, posteriors = [], [], []
    for t in range(frames):
        image = np.full((60, 100, 3), (70, 90, 110), np.uint8)
        patch, ball = (columns > 58) & (columns < 78) & (rows > 15) & (rows < 45), _disc(rows, columns, 10 + 6 * t)
        image[patch] = (190, 80, 60)
        image[ball] = (205, 75, 55)
        scores = np.where(ball, 0.85, np.where(patch, 0.65 if t % 3 == 2 else 0.25, 0.2))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            energy = segmentation_energy(image, scores, kernels=kernels)
            single.append(mf.mean_field(energy).labeling())
            posteriors.append(mf.infer(energy, n_modes=3))
        images.append(image)
    chosen = mf.segment_video(images, posteriors).chosen_modes.tolist()
    found = [
        VideoFrame(image, plain, post.labelings(), post.weights, mode)
        for image, plain, post, mode in zip(images, single, posteriors, chosen, strict=True)
    ]
    return video_page(found, names=("background", "object"), title="A ball in front of a patch of its colour")


def _disc(rows: np.ndarray, columns: np.ndarray, x: float) -> np.ndarray:
    return (rows - 30) ** 2 + (columns - x) ** 2 < 80


def screenshots(folder: Path) -> None:
    """The four pages in a browser."""

    def quiet(done: int) -> None:
        pass

    demos.photograph(folder / "photo", progress=quiet)
    demos.people(folder / "people", progress=quiet)
    demos.graph(folder / "graph", progress=quiet)
    (folder / "video").mkdir()
    (folder / "video" / "report.html").write_text(doubtful_video(), encoding="utf-8")
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
                page.locator("#time").fill("5")
                page.locator("#play").focus()
            target = HERE / f"report-{name}.png"
            page.screenshot(path=target)
            _small(target)
        browser.close()


def _small(path: Path) -> None:
    Image.open(path).convert("RGB").quantize(COLOURS).save(path, optimize=True)


if __name__ == "__main__":
    demo_figure()
    with tempfile.TemporaryDirectory() as scratch:
        screenshots(Path(scratch))
