"""Output folders, the commands that make them, and processes that tests kill."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
from PIL import Image

DRIVER = Path(__file__).parent / "driver.py"
VARYING = {"manifest.jsonl", "summary.json", "frames.json"}  # in the output folder itself; order and times differ


def tree(out):
    """Checksums of the files of an output folder, by relative path."""
    return {
        path.relative_to(out).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.relative_to(out).as_posix() not in VARYING
    }


def recorded(out):
    """Number of results in the manifest, by item name."""
    records = [json.loads(line) for line in (out / "manifest.jsonl").read_text().splitlines()[1:]]
    return Counter(record["item"] for record in records if "files" in record)


def images(folder, count, *, size=(8, 10)):
    """Tiny images and scores; returns the two folders."""
    (folder / "images").mkdir(parents=True)
    (folder / "scores").mkdir()
    rng = np.random.default_rng(0)
    for k in range(count):
        truth = (np.arange(size[1]) >= size[1] // 2)[None].repeat(size[0], 0)
        p = np.clip(0.5 + 0.3 * (truth - 0.5) + rng.normal(0, 0.2, truth.shape), 0.05, 0.95)
        Image.fromarray((60 + 120 * truth).astype(np.uint8)).save(folder / "images" / f"{k:04d}.png")
        np.save(folder / "scores" / f"{k:04d}.npy", np.stack([1 - p, p], -1).astype(np.float32))
    return folder / "images", folder / "scores"


def segment(images, scores, out, *options):
    """The command that segments a folder."""
    words = [images, "--scores", scores, "--modes", 1, "--out", out, *options]
    return [sys.executable, "-m", "mixfield", "segment", *map(str, words)]


def video(images, scores, out, *options):
    """The command that segments a video."""
    words = [images, "--scores", scores, "--modes", 1, "--lag", 1, "--out", out, *options]
    return [sys.executable, "-m", "mixfield", "video", *map(str, words)]


def driven(out, engine, count, *scheduler):
    """The command that runs cheap items."""
    return [sys.executable, *map(str, (DRIVER, out, engine, count, *scheduler))]


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, **options)


def kill_until_done(command, out, items, rng, *, most=6):
    """Start a command, kill -9 its driver at a random point and repeat until it ends; returns the number of kills.

    A point is a number of finished items, at most half of those still to do, and a few more milliseconds, so that runs
    are killed while they start, inside an item and between two.  After ``most`` kills the command runs to its end.
    """
    for kills in range(most):
        before = finished(out)
        wanted = before + rng.integers(0, max(1, (items - before) // 2))
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and finished(out) < wanted:
            time.sleep(0.001)
        try:
            _, complaint = process.communicate(timeout=rng.uniform(0, 0.05))
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            process.stderr.close()
            continue
        assert process.returncode == 0, complaint
        return kills
    done = run(command)
    assert done.returncode == 0, done.stderr
    return most


def finished(out):
    """Number of items in the manifest."""
    manifest = out / "manifest.jsonl"
    return max(0, manifest.read_bytes().count(b"\n") - 1) if manifest.exists() else 0


def children(pid):
    """Child processes of a process, on Linux."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(status.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(status.parent.name))
        except OSError:  # it has just ended
            continue
    return found
