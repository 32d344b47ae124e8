"""`mf.segment_large`: the answer of the whole, the same bytes whatever the engine, killed runs that go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from large_images import SMALL, several_blocks

import mixfield as mf
from mixfield import batch
from mixfield.errors import BatchError

OPTIONS = {"n_modes": 1, "kernels": SMALL, "block": 48, "progress": False}


def whole_of(image, scores):
    return mf.mean_field(
        mf.DenseCRF.from_probabilities(scores, image, smooth_weight=1.0, sxy=8.0, srgb=20.0, weight=2.0)
    )


def test_blocks_have_the_labels_and_the_bound_of_the_whole(tmp_path):
    image, scores = several_blocks((160, 240))
    answer = mf.segment_large(image, scores, tmp_path / "a.npy", **OPTIONS)
    whole = whole_of(image, scores)
    assert answer.blocks == 20
    assert (np.load(answer.out) == whole.labeling()).mean() >= 0.999
    assert answer.log_z == pytest.approx(whole.log_z, rel=1e-3)
    assert answer.not_converged == ()


def test_a_larger_halo_is_closer_to_the_whole(tmp_path):
    image, scores = several_blocks((160, 240))
    whole = whole_of(image, scores).labeling()
    different = []
    for halo in (0, 8, 32):
        answer = mf.segment_large(image, scores, tmp_path / f"{halo}.npy", halo=halo, **OPTIONS)
        different.append((np.load(answer.out) != whole).sum())
    assert different[0] > different[1] > different[2]


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_do_not_change_bytes(tmp_path, threads, monkeypatch):
    image, scores = several_blocks()
    mf.segment_large(image, scores, tmp_path / "a.npy", **OPTIONS)
    monkeypatch.setenv("MIXFIELD_THREADS", str(threads))
    mf.segment_large(image, scores, tmp_path / "b.npy", solver=mf.Solver(threads=threads), **OPTIONS)
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()


class Backwards:
    """An engine that begins with the last block."""

    def run(self, work, items, out):
        return batch.Serial().run(work, list(items)[::-1], out)


def test_the_order_of_blocks_does_not_change_bytes(tmp_path):
    image, scores = several_blocks(seed=3)
    options = OPTIONS | {"n_modes": 3}
    mf.segment_large(image, scores, tmp_path / "a.npy", **options)
    mf.segment_large(image, scores, tmp_path / "b.npy", engine=Backwards(), **options)
    for name in (".npy", "_alternatives.npy", "_questions.csv", "_questions.geojson"):
        assert (tmp_path / f"a{name}").read_bytes() == (tmp_path / f"b{name}").read_bytes()


PROGRAM = """
import sys
import mixfield as mf
from mixfield import batch

if __name__ == "__main__":
    engine = batch.Processes(2) if sys.argv[2] == "processes" else None
    kernels = mf.Kernels(smooth_sxy=3.0, smooth_weight=1.0, sxy=8.0, srgb=20.0, weight=2.0)
    mf.segment_large("image.npy", "scores.npy", sys.argv[1], 1, kernels=kernels, block=16, engine=engine)
"""


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["serial", "processes"])
def test_a_killed_run_goes_on_to_the_same_bytes(tmp_path, engine):
    image, scores = several_blocks((160, 240))
    np.save(tmp_path / "image.npy", image)
    np.save(tmp_path / "scores.npy", scores)
    (tmp_path / "program.py").write_text(PROGRAM)
    call = [sys.executable, "program.py"]
    subprocess.run([*call, "alone.tif", "serial"], cwd=tmp_path, check=True)
    manifest, kills = tmp_path / "killed.tif.blocks" / "manifest.jsonl", 0
    while kills < 3:
        process = subprocess.Popen([*call, "killed.tif", engine], cwd=tmp_path, start_new_session=True)
        before = len(manifest.read_bytes().splitlines()) if manifest.exists() else 0
        while process.poll() is None and (
            not manifest.exists() or len(manifest.read_bytes().splitlines()) < before + 9
        ):
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        kills += 1
    subprocess.run([*call, "killed.tif", engine], cwd=tmp_path, check=True)
    assert (tmp_path / "alone.tif").read_bytes() == (tmp_path / "killed.tif").read_bytes()


def test_progress_counts_blocks(tmp_path):
    image, scores = several_blocks()
    seen = []
    mf.segment_large(image, scores, tmp_path / "a.npy", **(OPTIONS | {"progress": seen.append}))
    assert seen == [1, 2, 3, 4, 5, 6]


def test_a_block_that_fails_is_named(tmp_path):
    image, scores = several_blocks()
    scores[60, 100] = -1.0
    with pytest.raises(BatchError, match=r"block 00000_0000[01]: scores must be probabilities"):
        mf.segment_large(image, scores, tmp_path / "a.npy", **OPTIONS)
