"""Recordings for tests: a synthetic walk as the files that ``mixfield detect`` reads, and a moving block."""

from __future__ import annotations

import json

import numpy as np

from mixfield.io import opencv


def save_recording(folder, walk):
    """Write calibrations, numbered masks and a scene.toml; returns the path of the scene file."""
    lines = ["area = [0, 0, 6, 6]", "margin = 0.0", "reduction = 1"]
    for c, camera in enumerate(walk.scene.cameras):
        matrices = {"K": camera.lens.matrix, "R": camera.rotation, "t": camera.translation}
        calibration = {name: matrix.tolist() for name, matrix in matrices.items()}
        calibration |= {"width": camera.width, "height": camera.height}
        (folder / f"camera{c}.json").write_text(json.dumps(calibration))
        lines += ["[[camera]]", f'calibration = "camera{c}.json"', f'masks = "c{c}-{{frame:03d}}.png"']
        for t, mask in enumerate(walk.masks[:, c]):
            opencv.write_image(folder / f"c{c}-{t:03d}.png", 255 * mask.astype(np.uint8))
    path = folder / "scene.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def moving_block(rng, n=60):
    """Noisy pictures of a block that moves in front of a wall and stands still for a while, and its masks."""
    still = rng.integers(60, 120, (48, 64, 3))
    frames, truth = [], []
    for k in range(n):
        left = 40 if 20 <= k < 28 else (k * 5) % 56
        image = still + rng.normal(0, 3, still.shape)
        image[10:40, left : left + 8] = 220
        frames.append(np.clip(image, 0, 255).astype(np.uint8))
        mask = np.zeros((48, 64), bool)
        mask[10:40, left : left + 8] = True
        truth.append(mask)
    return frames, truth
