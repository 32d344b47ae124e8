"""Results whose pages are tested: small, quickly made, with known answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import mixfield as mf
from mixfield.apps import FieldModel, superpixel_energy
from mixfield.reports.field_page import field_page
from mixfield.reports.people_page import people_page
from mixfield.reports.segmentation_page import segmentation_page
from mixfield.reports.track_table import TrackTable
from mixfield.reports.video_page import VideoFrame, video_page


def random_posterior(shape=(6, 8), labels=3, modes=2):
    """A posterior over pixels with random marginals, and a random image."""
    rng = np.random.default_rng(0)
    found = tuple(mf.Mode(rng.dirichlet(np.ones(labels), shape), -float(k)) for k in range(modes))
    return mf.MixturePosterior(found), rng.integers(0, 256, (*shape, 3), dtype=np.uint8)


def segmented():
    """Image, posterior over pixels with several modes, and the bits that its first mode hides."""
    image = np.full((40, 60, 3), 70, np.uint8)
    image[:, 20:40] = (110, 90, 80)
    image[:, 40:] = 190
    scribbles = np.full((40, 60), -1)
    scribbles[20, 2:12], scribbles[20, 48:58] = 0, 1
    superpixels = np.arange(60)[None] // 10 + 6 * (np.arange(40)[:, None] // 20)
    energy = superpixel_energy(image, scribbles, superpixels, certainty=0.99, contrast=40)
    post = mf.infer(energy, 3)
    gap = np.linspace(0, 1, 2400).reshape(40, 60)
    return image, post, gap, superpixels, scribbles


def segmentation():
    image, post, gap, superpixels, scribbles = segmented()
    page = segmentation_page(
        post, image, gap=gap, pixels=superpixels, scribbles=scribbles, names=("wall", "door"), title="Door & wall"
    )
    return page, post, superpixels


def calibrated_segmentation():
    """A page with three calibrated modes of four; the leaf of the fourth is left out."""
    image = np.full((40, 60, 3), 70, np.uint8)
    image[:, 20:40] = (110, 90, 80)
    image[:, 40:] = 190
    probs = np.zeros((40, 60, 3))
    probs[:, :20], probs[:, 20:40], probs[:, 40:] = [0.9, 0.05, 0.05], [0.5, 0.42, 0.08], [0.1, 0.5, 0.4]
    kernels = mf.Kernels(smooth_sxy=2, smooth_weight=2, sxy=5, srgb=10, weight=3)
    model = replace(FieldModel.default(), kernels=kernels, least_gain=0.0)
    post = mf.segment(image, probs, 3, model=model)
    return segmentation_page(post, image, names=("wall", "door", "sofa"), title="Door or sofa?"), post


def large_segmentation(height: int = 375, width: int = 500, modes: int = 8, labels: int = 5):
    """A page of the size that the size limit is about, with soft and noisy marginals."""
    rng = np.random.default_rng(0)
    rows, columns = np.mgrid[:height, :width]
    waves = 127 + 60 * np.sin(columns / 31) + 60 * np.cos(rows / 23)
    image = np.clip(waves[..., None] + rng.normal(0, 12, (height, width, 3)), 0, 255).astype(np.uint8)
    centres = rng.uniform(0, (height, width), (labels, 2))
    scores = -np.stack([np.hypot(rows - y, columns - x) for y, x in centres], axis=-1) / 12
    scores += rng.normal(0, 0.3, scores.shape)
    found = []
    for k in range(modes):
        moved = scores.copy()
        y, x = rng.integers(0, height - 120), rng.integers(0, width - 120)
        if k:
            moved[y : y + 120, x : x + 120, k % labels] += 40
        q = np.exp(moved - moved.max(-1, keepdims=True))
        found.append(mf.Mode(q / q.sum(-1, keepdims=True), -float(k)))
    post = mf.MixturePosterior(tuple(found))
    return segmentation_page(post, image, gap=rng.random((height, width)), title="large")


def field():
    post = mf.infer(mf.datasets.four_zones(8, rng=0), 3, min_distance=0)
    return field_page(post, exact_log_z=post.log_z + 0.5, title="Zones"), post


def people():
    walk = mf.datasets.walking_people(n_people=2, n_cameras=2, n_frames=5, rng=3)
    posts = {10 + t: mf.detect(walk.scene, list(masks), 2) for t, masks in enumerate(walk.masks)}
    tracks = mf.track(posts.values(), walk.scene, frame_rate=4.0)
    pictures = {10 + t: list(masks) for t, masks in enumerate(walk.masks)}
    page = people_page(posts, walk.scene, pictures=pictures, tracks=TrackTable.of(tracks), title="Room")
    return page, posts, tracks, walk.scene


def video():
    frames = []
    for t in range(6):
        image = np.full((24, 32, 3), 30 * t, np.uint8)
        modes = np.zeros((3, 24, 32), int)
        modes[1, :, 16:], modes[2, 12:] = 1, 2
        frames.append(VideoFrame(image, modes[0], modes, [0.5, 0.3, 0.2], chosen=t % 3, cost=0.5 * t, number=100 + t))
    return video_page(frames, names=("road", "car", "tree"), title="Street"), frames
