"""Full and unwritable disks: one sentence, finished results stay; bad inputs among good ones: they fail, alone."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import time

import numpy as np
import pytest
from faults.disks import disk, may_mount, small_files, without_privileges
from faults.driver import items, pieces
from faults.results import driven, finished, images, recorded, run, segment, tree
from PIL import Image

from mixfield import batch

needs_setpriv = pytest.mark.skipif(
    os.geteuid() == 0 and not shutil.which("setpriv"), reason="root needs setpriv to respect permissions"
)


@pytest.mark.skipif(not may_mount(), reason="a small disk can only be mounted by root")
@pytest.mark.parametrize("engine", ["serial", "processes"])
def test_disk_full(tmp_path, engine):
    with disk(tmp_path / "disk", 300_000) as small:
        out = small / "out"
        done = run(driven(out, engine, 40))
        assert done.returncode == 1
        assert "No space left on device; finished results are kept" in done.stderr
        assert done.stderr.count("\n") == 1
        finished = len(recorded(out))
        assert 5 < finished < 40
        before = tree(out)
        run(["mount", "-o", "remount,size=3000000", str(small)])
        assert run(driven(out, engine, 40)).returncode == 0
        assert before.items() <= tree(out).items()
        assert recorded(out) == {str(k): 1 for k in range(40)}


@pytest.mark.skipif(not may_mount(), reason="a read-only disk can only be mounted by root")
def test_read_only_disk(tmp_path):
    pictures, scores = images(tmp_path, 1)
    with disk(tmp_path / "disk", 100_000, "ro") as small:
        done = run(segment(pictures, scores, small / "out"))
        assert done.returncode == 2
        assert done.stderr == f"mixfield: cannot write to {small}/out: Read-only file system\n"


def test_file_too_large(tmp_path):
    """The limit of a file's size stands for a full disk where none can be mounted."""
    pictures, scores = images(tmp_path, 3)
    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 255, (150, 150), np.uint8)).save(pictures / "0001.png")
    np.save(scores / "0001.npy", rng.uniform(0.2, 0.8, (150, 150, 2)).astype(np.float32))
    command = segment(pictures, scores, tmp_path / "o")
    done = run(command, preexec_fn=small_files, env=os.environ | {"NUMBA_DISABLE_JIT": "0"})
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(f"mixfield: 0001.png: cannot write to {tmp_path}/o: File too large; finished results")
    assert done.stderr.count("\n") == 1
    assert recorded(tmp_path / "o") == {"0000.png": 1}
    assert run(command).returncode == 0
    assert set(recorded(tmp_path / "o").values()) == {1}


@pytest.mark.parametrize("options", [(), ("--workers", 2), ("--engine", "dask", "--workers", 2)])
@pytest.mark.parametrize("replaced", [False, True])
def test_output_folder_deleted_during_the_run(tmp_path, options, replaced):
    """Exit code 2 and a sentence, nothing that is reported as segmented, and the same command begins again."""
    pictures, scores = images(tmp_path, 60)
    out = tmp_path / "o"
    command = segment(pictures, scores, out, *options)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while finished(out) < 3:
        time.sleep(0.001)
    out.rename(tmp_path / "deleted")  # all at once; workers may create it again
    if replaced:
        out.mkdir(exist_ok=True)
    shutil.rmtree(tmp_path / "deleted", ignore_errors=True)
    printed, said = process.communicate(timeout=120)
    assert process.returncode == 2, said
    assert said.startswith(f"mixfield: {out} was deleted or replaced during the run, and results with it; run the same")
    assert said.count("\n") == 1
    assert printed == ""
    assert not (out / "manifest.jsonl").exists()
    assert not (out / "summary.json").exists()


@needs_setpriv
def test_unwritable_output(tmp_path):
    pictures, scores = images(tmp_path, 1)
    (tmp_path / "locked").mkdir(mode=0o500)
    for out in (tmp_path / "locked", tmp_path / "locked" / "o", pictures / "0000.png" / "o"):
        done = run(without_privileges(segment(pictures, scores, out)))
        assert done.returncode == 2
        assert done.stderr.startswith(f"mixfield: cannot write to {out}")
        assert done.stderr.count("\n") == 1


@needs_setpriv
def test_bad_inputs_among_good_ones(tmp_path):
    pictures, scores = images(tmp_path, 200)
    (pictures / "0003.png").write_bytes(b"")
    (pictures / "0050.png").write_bytes((pictures / "0050.png").read_bytes()[:60])
    (scores / "0077.npy").write_bytes(b"\x93NUMPY\x01\x00")
    (pictures / "0100.png").unlink()
    (pictures / "0100.png").mkdir(mode=0o000)
    (scores / "0150.npy").chmod(0o000)
    out = tmp_path / "o"
    (out / "0180").mkdir(parents=True)
    (out / "0180").chmod(0o500)
    done = run(without_privileges(segment(pictures, scores, out, "--workers", 2, "--json")))
    (pictures / "0100.png").chmod(0o700)
    assert done.returncode == 1, done.stderr
    assert done.stderr == ""
    said = json.loads(done.stdout)
    bad = {"0003.png", "0050.png", "0077.png", "0100.png", "0150.png", "0180.png"}
    assert set(said["failures"]) == bad
    assert len(said["images"]) == len(recorded(out)) == 194
    Image.fromarray(np.zeros((8, 10), np.uint8)).save(pictures / "0003.png")  # mended
    again = json.loads(run(without_privileges(segment(pictures, scores, out, "--json"))).stdout)
    assert set(again["failures"]) == bad - {"0003.png"}
    assert len(again["images"]) == 195


def test_overhead_and_memory(tmp_path):
    """Processor time per item below 5 ms, and no memory that grows with their number."""
    todo = [batch.Item(str(k), k) for k in range(3000)]
    grown, started = [], time.process_time()
    for k, outcome in enumerate(batch.map(touch, todo, tmp_path)):
        assert outcome.failure is None
        if k in (300, 2999):
            grown.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert (time.process_time() - started) / 3000 < 0.005
    assert grown[1] - grown[0] < 10_000  # kB


def touch(number, folder):
    (folder / f"{number}").write_text(str(number))


def test_changed_and_damaged_results_are_done_again(tmp_path):
    source = tmp_path / "source"
    source.write_text("1")
    todo = [batch.Item("a", 1, (source,)), batch.Item("b", 2)]
    assert [o.fresh for o in batch.map(pieces, todo, tmp_path / "o")] == [True, True]
    assert [o.fresh for o in batch.map(pieces, todo, tmp_path / "o")] == [False, False]
    (tmp_path / "o" / "2.txt").write_text("damaged")
    source.write_text("22")
    assert [o.fresh for o in batch.map(pieces, todo, tmp_path / "o")] == [True, True]
    assert (tmp_path / "o" / "2.txt").read_text() == "item 2\n"
    (tmp_path / "o" / "large" / "1.bin").unlink()
    assert [(o.name, o.fresh) for o in batch.map(pieces, todo, tmp_path / "o")] == [("b", False), ("a", True)]
    assert len(list(batch.map(pieces, items(3)[1:], tmp_path / "p"))) == 2
