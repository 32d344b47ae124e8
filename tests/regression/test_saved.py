"""Saved results of every version can be read; those of a later one are refused with a sentence.

``saved/version_1.npz`` is ``mf.infer(mf.FactorGraph.ising([0.0, 0.1, 0.0], [(0, 1), (1, 2)], 2.0), n_modes=2)``,
``version_2.npz`` the same with ``compact=True``, ``version_3.npz`` a collapsed field,
``mf.infer(mf.datasets.random_ising(5, rng=0), n_modes=2)``;
``saved/batch_1`` a folder of results of the first mixfield that had batches: the squares of 0, 1 and 3, and 2 failed.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import mixfield as mf
from mixfield import batch
from mixfield.batch import manifest
from mixfield.errors import FileFormatError
from mixfield.mixture import tree
from mixfield.mixture.archive import VERSION
from mixfield.reports.video_file import VERSION as VIDEO
from mixfield.reports.video_file import read_video, write_video
from mixfield.reports.video_page import VideoFrame

SAVED = Path(__file__).parent / "saved"


def test_every_version_has_a_file():
    posteriors = {f"version_{v}.npz" for v in range(1, VERSION + 1)}
    assert {path.name for path in SAVED.iterdir()} == posteriors | {
        f"batch_{v}" for v in range(1, manifest.VERSION + 1)
    }


@pytest.mark.parametrize("path", [SAVED / "version_1.npz", SAVED / "version_2.npz"], ids=lambda path: path.stem)
def test_old_files_are_read(path, tmp_path):
    saved = mf.load(path)
    graph = mf.FactorGraph.ising([0.0, 0.1, 0.0], [(0, 1), (1, 2)], 2.0)
    now = mf.infer(graph, n_modes=2)
    assert saved.labelings().tolist() == [[1, 1, 1], [0, 0, 0]]
    atol = 2e-5 if path.stem == "version_2" else 1e-6  # 16 bits
    np.testing.assert_allclose(saved.marginals(), now.marginals(), atol=atol)
    np.testing.assert_allclose(saved.log_z, now.log_z, atol=1e-6)
    assert [str(c) for mode in saved.modes for c in mode.constraints] == [
        str(c) for mode in now.modes for c in mode.constraints
    ]
    saved.save(tmp_path / "again.npz")
    assert mf.load(tmp_path / "again.npz").log_z == saved.log_z


def test_a_collapsed_field_is_read(monkeypatch):
    monkeypatch.setattr(tree, "LARGEST_CLUSTERED", 0)  # as the version was that wrote it
    saved = mf.load(SAVED / "version_3.npz")
    graph = mf.datasets.random_ising(5, rng=0)
    now = mf.infer(graph, n_modes=2)
    np.testing.assert_array_equal(saved.labelings(), now.labelings())
    np.testing.assert_allclose(saved.marginals(), now.marginals(), atol=1e-6)
    np.testing.assert_allclose(saved.log_prob(now.map()), now.log_prob(now.map()), atol=1e-5)
    assert saved.map_energy == pytest.approx(graph.of(saved.map()), abs=1e-9)


def test_a_file_from_the_future(tmp_path):
    with np.load(SAVED / "version_1.npz") as file:
        arrays = dict(file)
    header = json.loads(arrays["header"].tobytes()) | {"version": VERSION + 1, "news": "unknown"}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(tmp_path / "future.npz", **arrays)
    with pytest.raises(
        FileFormatError, match=rf"format version {VERSION + 1}, this mixfield reads versions up to {VERSION};"
    ):
        mf.load(tmp_path / "future.npz")


@pytest.mark.parametrize("path", sorted(SAVED.glob("batch_*")), ids=lambda path: path.stem)
def test_old_batches_go_on(path, tmp_path):
    """Finished results count, the failed one is done, and a new one too."""
    out = tmp_path / "out"
    shutil.copytree(path, out)
    assert batch.facts(out) == {"n0": {"square": 0}, "n1": {"square": 1}, "n3": {"square": 9}}
    todo = [batch.Item(f"n{k}", k) for k in range(5)]
    found = list(batch.map(_square, todo, out, settings={"power": 2}))
    assert {outcome.name: outcome.facts["square"] for outcome in found} == {f"n{k}": k * k for k in range(5)}
    assert [outcome.name for outcome in found if outcome.fresh] == ["n2", "n4"]


def _square(number, folder):
    (folder / "squares").mkdir()
    (folder / "squares" / f"{number}.txt").write_text(str(number**2))
    return {"square": number**2}


def test_a_batch_from_the_future(tmp_path):
    later = {"format": manifest.FORMAT, "version": manifest.VERSION + 1, "settings": None, "news": "unknown"}
    (tmp_path / "manifest.jsonl").write_text(json.dumps(later) + "\n")
    for read in (batch.facts, lambda out: list(batch.map(_square, [], out))):
        with pytest.raises(FileFormatError, match=f"has format version {manifest.VERSION + 1}, this mixfield reads"):
            read(tmp_path)


def test_a_video_from_the_past_and_the_future(tmp_path):
    labels = np.zeros((2, 4, 6), np.uint8)
    frame = VideoFrame(np.zeros((4, 6, 3), np.uint8), labels[0], labels, [0.7, 0.3], chosen=1, number=5)
    write_video(tmp_path / "video.npz", [frame, frame])
    with np.load(tmp_path / "video.npz") as file:
        arrays = dict(file)
    assert int(arrays.pop("version")) == VIDEO
    np.savez(tmp_path / "video.npz", **arrays)  # the first ones did not tell their version
    assert [(found.number, found.chosen) for found in read_video(tmp_path / "video.npz")] == [(5, 1), (5, 1)]
    np.savez(tmp_path / "video.npz", version=VIDEO + 1, **arrays)
    with pytest.raises(FileFormatError, match=f"has format version {VIDEO + 1}, this mixfield reads"):
        read_video(tmp_path / "video.npz")
