"""The command line as tests call it, and a folder of annotated images for it."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from PIL import Image

from mixfield.cli import main
from mixfield.io import write_label_map


def error_of(monkeypatch, capsys, *words):
    """The sentence of a command that ends with exit code 2."""
    monkeypatch.setattr(sys, "argv", ["mixfield", *map(str, words)])
    with pytest.raises(SystemExit) as stop:
        main()
    error = capsys.readouterr().err
    assert stop.value.code == 2
    assert error.startswith("mixfield: ")
    assert len(error.strip().splitlines()) == 1
    return error


def two_halves(seed):
    """An image with a dark and a bright half, noisy scores and the true labels."""
    rng = np.random.default_rng(seed)
    truth = (np.arange(18) >= 9)[None].repeat(12, 0).astype(np.uint8)
    image = (60 + 120 * truth).astype(np.uint8)
    p = np.clip(0.5 + 0.3 * (truth - 0.5) + rng.normal(0, 0.2, truth.shape), 0.05, 0.95)
    return image, np.stack([1 - p, p], -1).astype(np.float32), truth


def write_annotated(folder):
    """Three annotated images as ``mixfield fit`` reads them; returns the folder."""
    for name in ("images", "scores", "truth"):
        (folder / name).mkdir()
    for k, stem in enumerate("abc"):
        image, probs, truth = two_halves(k)
        Image.fromarray(image).save(folder / "images" / f"{stem}.png")
        np.save(folder / "scores" / f"{stem}.npy", probs)
        write_label_map(folder / "truth" / f"{stem}.png", truth)
    return folder
