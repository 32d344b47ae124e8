"""Damaged files: every parser reads or refuses them, with a sentence; findings stay in ``corpus/``."""

from __future__ import annotations

import io
import json
import os
import pickle
import signal
import struct
import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from fuzz.damage import damaged
from fuzz.parsers import CORPUS, PARSERS, attempt
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

import mixfield as mf
from experiments.people import cvml
from mixfield import _npy, batch
from mixfield.errors import FileFormatError, MixfieldError, TooLargeError
from mixfield.io import calibration, frame_source, images, read_image, read_scores


@pytest.mark.parametrize("name", PARSERS)
def test_seeds_are_read(name):
    assert "read" in {attempt(PARSERS[name], seed) for seed in PARSERS[name].seeds()}


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*/*")), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_findings(path):
    attempt(PARSERS[path.parent.name.replace("_", " ")], path.read_bytes())


@pytest.mark.parametrize("name", PARSERS)
def test_damaged_files(name):
    rng, seeds = np.random.default_rng(0), PARSERS[name].seeds()
    for _ in range(60):
        attempt(PARSERS[name], damaged(seeds, rng))


@pytest.mark.parametrize("name", PARSERS)
@settings(max_examples=15)
@given(content=st.binary(max_size=200) | st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes(name, content):
    attempt(PARSERS[name], content)


words = st.sampled_from(["MARKOV", "BAYES", "0", "1", "2", "3", "-1", "0.5", "1e-400", "1e400", "nan", "x", "#", "\n"])


@settings(max_examples=200)
@given(st.lists(words, max_size=25).map(" ".join))
def test_words_of_uai(text):
    attempt(PARSERS["uai"], f"MARKOV {text}".encode())


class Canary:
    """Pickled, it would raise an alarm."""

    def __reduce__(self):
        return pytest.fail, ("something was unpickled",)


def test_nothing_is_unpickled(tmp_path):
    np.save(tmp_path / "a.npy", np.array([Canary()], object))
    np.savez(tmp_path / "a.npz", probs=np.array([Canary()], object), header=np.array([Canary()], object), marginals=1)
    (tmp_path / "b.npy").write_bytes(pickle.dumps(Canary()))
    (tmp_path / "b.npz").write_bytes(pickle.dumps(Canary()))
    for read in (read_scores, mf.load, calibration.read_camera):
        for path in sorted(tmp_path.glob("*.np[yz]")):
            with pytest.raises(FileFormatError):
                read(path)
    with pytest.raises(FileFormatError, match="pickled objects are not read"):
        read_scores(tmp_path / "a.npy")


def test_arrays_of_python_2(tmp_path):
    """Their lengths are long integers; no warning about it."""
    np.save(tmp_path / "a.npy", np.ones((3, 4, 2)))
    content = (tmp_path / "a.npy").read_bytes().replace(b"(3, 4, 2), ", b"(3L, 4, 2),")
    (tmp_path / "a.npy").write_bytes(content)
    assert read_scores(tmp_path / "a.npy").shape == (3, 4, 2)


def test_numbers_that_are_no_integers_of_this_machine():
    with pytest.raises(MixfieldError, match=r"edges must lie in 0\.\.1, got 1e\+300"):
        mf.FactorGraph.from_pairwise(np.zeros((2, 2)), [(0.0, 1e300)], np.zeros((1, 2, 2)))


def test_decompression_bombs_name_the_limit(tmp_path, monkeypatch):
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", 40_000, 40_000, 1, 0, 0, 0, 0)
    bomb = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(5001))) + chunk(b"IEND", b"")
    (tmp_path / "bomb.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bomb)
    with pytest.raises(TooLargeError, match=str(images.LARGEST)):
        read_image(tmp_path / "bomb.png")
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (1 << 40,)})
    (tmp_path / "bomb.npy").write_bytes(header.getvalue())
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w") as archive:
        archive.writestr("probs.npy", header.getvalue())
    for name in ("bomb.npy", "bomb.npz"):
        with pytest.raises(TooLargeError, match=str(_npy.LARGEST)):
            read_scores(tmp_path / name)
    monkeypatch.setattr(_npy, "LARGEST", 10_000)
    np.savez_compressed(tmp_path / "zeros.npz", probs=np.zeros((100, 100, 2)))
    with pytest.raises(TooLargeError, match="at most 10000 are read"):
        read_scores(tmp_path / "zeros.npz")


def test_large_image_is_refused_before_it_is_decoded(tmp_path, monkeypatch):
    monkeypatch.setattr(images, "LARGEST", 100)
    Image.new("L", (20, 20)).save(tmp_path / "large.png")
    with pytest.raises(TooLargeError, match="20 x 20 pixels, more than the 100 that are read"):
        read_image(tmp_path / "large.png")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("read", [calibration.read_camera, cvml.read_cvml])
def test_entities_are_not_read(tmp_path, read, encoding):
    laughs = '<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><Camera name="&b;"/>'
    (tmp_path / "bomb.xml").write_bytes(f'<?xml version="1.0" encoding="{encoding}"?>{laughs}'.encode(encoding))
    with pytest.raises(FileFormatError, match=r"bomb\.xml declares a document type or entities, which are not read"):
        read(tmp_path / "bomb.xml")


SPECIAL = {
    "a pipe": lambda path: os.mkfifo(path),
    "a folder": os.mkdir,
    "a device": lambda path: os.symlink("/dev/zero", path),
}


@pytest.fixture
def limits():
    """Ends a test that waits for the writer of a pipe, or reads a device until memory ends."""
    import resource

    def fail(*_):
        raise TimeoutError("the parser waits")

    memory, handler = resource.getrlimit(resource.RLIMIT_AS), signal.signal(signal.SIGALRM, fail)
    used = 4096 * int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30), memory[1]))
    signal.alarm(10)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, handler)
    resource.setrlimit(resource.RLIMIT_AS, memory)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="pipes, devices and limits of Linux")
@pytest.mark.usefixtures("limits")
@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.parametrize("name", sorted(set(PARSERS) - {"posterior's header", "video's arrays", "manifest"}))
def test_pipes_folders_and_devices_are_refused(tmp_path, name, kind):
    path = tmp_path / f"file{PARSERS[name].suffix}"
    SPECIAL[kind](path)
    with pytest.raises(FileFormatError, match=rf"file{PARSERS[name].suffix} is {kind}; give a file"):
        PARSERS[name].read(path)


def test_a_tsai_scale_of_zero_is_refused(tmp_path):
    (tmp_path / "a.xml").write_bytes((CORPUS / "calibration_Tsai" / "zero_sx").read_bytes())
    with pytest.raises(FileFormatError, match="sx of Intrinsic must not be zero"):
        calibration.read_camera(tmp_path / "a.xml")


@pytest.mark.parametrize("pattern", ["{frame:999999999d}.png", "{frame.__class__}.png", "{frame!r}", "{0}", "{", "{x}"])
def test_patterns_of_frames_are_plain(tmp_path, pattern):
    with pytest.raises(FileFormatError, match="no other braces"):
        frame_source.open_frames(tmp_path, pattern)


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../x", "link/x", "", "a\\..\\x", "x\0y"])
def test_paths_of_a_manifest_stay_in_their_folder(tmp_path, name):
    out = tmp_path / "out"
    out.mkdir()
    (out / "link").symlink_to(tmp_path)
    head = {"format": "mixfield-batch", "version": 1, "settings": None}
    record = {"item": "a", "stamp": [], "files": {name: "00"}, "facts": None}
    (out / "manifest.jsonl").write_text(json.dumps(head) + "\n" + json.dumps(record) + "\n")
    (tmp_path / "x").write_text("mine")
    with pytest.raises(FileFormatError, match="not to be trusted"):
        list(batch.map(lambda _argument, _folder: None, [batch.Item("a", 1)], out))
    assert (tmp_path / "x").read_text() == "mine"


def test_results_of_an_item_stay_in_their_folder(tmp_path):
    def escaping(_argument, folder):
        (folder / "x").symlink_to("/etc/passwd")

    (outcome,) = batch.map(escaping, [batch.Item("a", 1)], tmp_path / "out")
    assert "does not lie in" in outcome.failure


@pytest.mark.parametrize(
    "text", ['{"format": "other"}\n', "not json\n", '{"format": "mixfield-batch", "version": 2}\n']
)
def test_manifests_of_others_and_of_the_future(tmp_path, text):
    (tmp_path / "manifest.jsonl").write_text(text)
    with pytest.raises(MixfieldError, match=r"not a manifest of mixfield|has format version 2, this mixfield reads"):
        list(batch.map(lambda _argument, _folder: None, [batch.Item("a", 1)], tmp_path))
