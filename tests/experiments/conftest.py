"""Small annotated pictures in the folders that the experiments read."""

from __future__ import annotations

import json

import numpy as np
import pytest

SHAPE = (24, 32)


def picture(rng, shift):
    """A bright square, shifted: image, labels, and logits (21, 33, 33) of a network that sees it at shift 0."""
    labels = np.zeros(SHAPE, np.uint8)
    labels[6:16, 8 + shift : 20 + shift] = 1
    image = np.clip(60 + 120 * labels[..., None] + rng.normal(0, 8, (*SHAPE, 3)), 0, 255).astype(np.uint8)
    logits = rng.normal(0, 0.3, (21, 33, 33)).astype(np.float16)
    logits[0] += 3
    logits[1, 6:16, 8:20] += 4
    return image, labels, logits


def write_folder(folder, names):
    """Write ``img/``, ``gt/`` and the scores of both networks."""
    image_module = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    (folder / "img").mkdir(parents=True)
    (folder / "gt").mkdir()
    found = []
    for shift, name in enumerate(names):
        image, labels, logits = picture(rng, shift)
        image_module.fromarray(image).save(folder / "img" / f"{name}.png")
        image_module.fromarray(labels).save(folder / "gt" / f"{name}.png")
        found.append(logits)
    sizes = np.tile(np.array(SHAPE) * 513 // 32, (len(names), 1))
    np.savez(folder / "unary_dl513.npz", logits=np.stack(found), names=np.array(names), hw=sizes)
    np.savez(folder / "unary_dl257.npz", logits=np.stack(found), names=np.array(names))


@pytest.fixture
def photos(tmp_path):
    """A data folder with two photographs of each set."""
    for name in ("voc", "vocval7", "coco"):
        write_folder(tmp_path / "segmentation" / name, ["one", "two"])
    return tmp_path


@pytest.fixture
def clip(tmp_path):
    """A data folder with one sequence of three frames."""
    pytest.importorskip("cv2")
    sequence = tmp_path / "video" / "davis" / "square"
    write_folder(sequence, ["00", "01", "02"])
    (sequence.parent / "meta.json").write_text(json.dumps({"square": {"fg_classes": [1]}}))
    (tmp_path / "video" / "camvid").mkdir()
    return tmp_path
