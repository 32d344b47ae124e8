"""A synthetic walk written as the files that ``mixfield detect`` reads."""

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
