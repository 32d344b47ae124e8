"""Hostile files, as large as they may be: what takes quadratic time or memory, or declares more than it has."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable

import numpy as np

from mixfield.io.documents import MAX_DOCUMENT, MAX_TOML, MAX_XML
from mixfield.io.storage import MAX_YAML

YAML = b"%YAML:1.0\n---\n"
MATRIX = YAML + b"K: !!opencv-matrix\n"


def _filled(start: bytes, part: bytes, size: int, end: bytes = b"") -> Callable[[], bytes]:
    """``part`` again and again, up to ``size`` bytes."""
    return lambda: start + part * ((size - len(start) - len(end)) // len(part)) + end


def _laughs(encoding: str) -> Callable[[], bytes]:
    """Entities that expand to 2^30 times two letters."""
    entities = "".join(f'<!ENTITY e{k + 1} "&e{k};&e{k};">' for k in range(30))
    text = (
        f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE l [<!ENTITY e0 "ha">{entities}]><Camera name="&e30;"/>'
    )
    return lambda: text.encode(encoding)


def _header(dtype: str, shape: tuple[int, ...]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array_header_2_0(buffer, {"descr": dtype, "fortran_order": False, "shape": shape})
    return buffer.getvalue()


def _zeros(dtype: str, shape: tuple[int, ...], *names: str, **arrays: np.ndarray) -> Callable[[], bytes]:
    """An archive with compressed arrays of zeros, about a thousandth of their size."""

    def made() -> bytes:
        buffer = io.BytesIO()
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, array in arrays.items():
                with archive.open(f"{name}.npy", "w") as member:
                    np.lib.format.write_array(member, array)
            for name in names:
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    member.write(_header(dtype, shape))
                    for _ in range(size >> 20):
                        member.write(bytes(1 << 20))
        return buffer.getvalue()

    return made


def _endless_header() -> bytes:
    """An array whose header declares 2^28 bytes of spaces."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("probs.npy", "w") as member:
        member.write(b"\x93NUMPY\x02\x00" + struct.pack("<I", 1 << 28))
        for _ in range(1 << 8):
            member.write(b" " * (1 << 20))
    return buffer.getvalue()


def _posterior(header: bytes, marginals: np.ndarray | None = None) -> bytes:
    buffer = io.BytesIO()
    array = np.full((1, 2, 2), 0.5) if marginals is None else marginals
    np.savez_compressed(buffer, header=np.frombuffer(header, np.uint8), marginals=array)
    return buffer.getvalue()


def _posterior_header() -> bytes:
    mode = {"log_z": 0.0, "constraints": [], "mass_inside": 1.0, "converged": True, "iterations": 1, "temperature": 1.0}
    head = {"format": "mixfield-posterior", "version": 1, "t_max": 1.0, "notes": [], "modes": [mode], "tree": []}
    return json.dumps(head).encode()


def _compact(runs: np.ndarray, counts: np.ndarray, *, n_constraints: int = 0) -> bytes:
    """A posterior in 16 bits of 4096 variables with these groups."""
    header = json.loads(_posterior_header()) | {"version": 2}
    node = {"parent": 0, "temperature": 1.0, "log_z": 0.0, "mode": 0}
    rows = [{"group": 0, "labels": [0], "count": count, "sign": 1} for count in range(1, n_constraints + 1)]
    header["tree"] = [node | {"constraint": row} for row in rows]
    levels = np.full((2, 2, 1, 4096), 128, np.uint8)
    arrays = {"labels": np.array([0, 1]), "shape": np.array([4096, 2]), "levels": levels, "runs": runs}
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer, header=np.frombuffer(json.dumps(header).encode(), np.uint8), run_counts=counts, **arrays
    )
    return buffer.getvalue()


def _png(side: int, depth: int, color: int) -> Callable[[], bytes]:
    def chunk(kind: bytes, payload: bytes) -> bytes:
        return struct.pack(">I", len(payload)) + kind + payload + struct.pack(">I", zlib.crc32(kind + payload))

    def made() -> bytes:
        channels = {0: 1, 2: 3, 6: 4}[color]
        row, packer = bytes(1 + side * channels * depth // 8), zlib.compressobj()
        data = [packer.compress(row) for _ in range(side)]
        pixels = b"".join([*data, packer.flush()])
        head = struct.pack(">IIBBBBB", side, side, depth, color, 0, 0, 0)
        return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")

    return made


def _jpeg(side: int) -> Callable[[], bytes]:
    """A JPEG whose header declares a large picture; the decoder fills in what is missing."""

    def made() -> bytes:
        from PIL import Image

        buffer = io.BytesIO()
        Image.new("RGB", (16, 16)).save(buffer, "JPEG")
        content = bytearray(buffer.getvalue())
        at = content.index(b"\xff\xc0") + 5
        content[at : at + 4] = struct.pack(">HH", side, side)
        return bytes(content)

    return made


BOMBS: dict[str, tuple[Callable[[], bytes], ...]] = {
    "uai": (
        lambda: b"MARKOV 60000 " + b"1000 " * 60_000 + b"0",
        lambda: b"MARKOV 1001 1000 " + b"2 " * 1000 + b"999 " + b"2 1 2 " * 999 + b"4 1 1 1 1 " * 999,
        lambda: b"MARKOV 1 2 1 1 0 2 1 " + b"1" * 1_000_000 + b"x",
        _filled(b"MARKOV 1 2 1 1 0 2 1 ", b"/", 1_000_000),
        _filled(b"", b" c\n", 1_000_000),
    ),
    "libDAI": (
        lambda: b"1 40 " + b"".join(b"%d " % v for v in range(40)) + b"2 " * 40 + b"0",
        lambda: b"3 " + b"2 0 1 1000 1000 0 " * 2 + b"2 2 3 9000 9000 0",
        lambda: b"60000 " + b"".join(b"1 %d 1000 0 " % v for v in range(60_000)),
        lambda: b"1 1 " + b"1" * 1_000_000 + b" 2 0",
        lambda: b"1 1 0 1000000000 0",
        _filled(b"1 1 0 2 2 0 1 1 ", b"1", 1_000_000, b"x"),
    ),
    "evidence": (lambda: b"1" * 1_000_000, _filled(b"", b"1 ", 1_000_000)),
    "pom": (
        lambda: b"ROOM 9 9 1 5000000\nRECTANGLE 0 0 1 1 2 2\nPROCESS 0 1000000\n",
        _filled(b"", b"RECTANGLE 0 0 1 1 2 2\n", 1_000_000),
        _filled(b"PRIOR ", b"1 ", 1_000_000),
        _filled(b"PRIOR ", b'"', 1_000_000),
    ),
    "calibration yaml": (
        _filled(MATRIX, b"   data: [ 1\n", MAX_YAML),
        _filled(MATRIX, b"\n", MAX_YAML),
        _filled(YAML + b"K: 1", b"\n", MAX_YAML, b" x"),
        _filled(YAML, b"a:\n", MAX_YAML),
        _filled(YAML + b"a:\n", b" -\n", MAX_YAML),
        _filled(YAML + b"a: [", b"1,", MAX_YAML, b"]"),
        _filled(MATRIX + b"data", b" ", MAX_YAML),
    ),
    "calibration json": (
        _filled(b'{"K": [', b"[],", MAX_DOCUMENT, b"1]}"),
        _filled(b'{"K": [', b"{},", MAX_DOCUMENT, b"1]}"),
        _filled(b'{"K": [', b"1.5,", MAX_DOCUMENT, b"1]}"),
    ),
    "calibration Tsai": (
        _laughs("utf-8"),
        _laughs("utf-16"),
        _filled(b"<Camera>", b"<a/>", MAX_XML, b"</Camera>"),
        _filled(b"", b"<a>", MAX_XML),
        _filled(b"<Camera ", b"a", MAX_XML),
        lambda: b"<Camera " + b" ".join(b'a%d=""' % k for k in range(400_000)) + b"/>",
    ),
    "annotations": (
        _filled(b"<dataset>", b'<frame number="1"/>', MAX_XML, b"</dataset>"),
        _filled(b'<dataset><frame number="1">', b"<object/>", MAX_XML, b"</frame></dataset>"),
        _filled(b"", b'<frame number="1">', 1_000_000, b"</frame>" * 55_000),
    ),
    "scene.toml": (
        _filled(b"a", b".a", MAX_TOML, b" = 1"),
        _filled(b"[a", b".a", MAX_TOML, b"]"),
        _filled(b"", b"a" + b".a" * 200 + b"=1\n", MAX_TOML),
        _filled(b'"a"', b'."a"', MAX_TOML, b" = 1"),
        _filled(b"", b"[[camera]]\n", MAX_TOML),
    ),
    "scores npz": (
        _zeros("<f8", (1 << 27,), "probs"),
        _zeros("<f8", (1 << 25,), "probs"),
        _endless_header,
    ),
    "calibration npz": (_zeros("<f8", (1 << 24,), "K", "R", "t", "x1", "x2", "x3", "x4"),),
    "posterior": (
        lambda: _zeros("|u1", (16, 1 << 24, 2), "marginals", header=np.frombuffer(_posterior_header(), np.uint8))(),
        lambda: _zeros("<f4", (1, 1 << 25, 2), "marginals", header=np.frombuffer(_posterior_header(), np.uint8))(),
        lambda: _posterior(b"[" + b"[]," * (5 << 20) + b"1]"),
        lambda: _posterior(b"[" + b"1234," * (3 << 20) + b"1]"),
        lambda: _compact(np.array([[0, 4096]] * 100_000), np.ones(100_000, np.int64)),
        lambda: _compact(np.array([[0, 4096]]), np.array([1]), n_constraints=4000),
        lambda: _compact(np.array([[0, 1 << 62]]), np.array([1])),
    ),
    "names of scores": (_zeros("<U1000000", (1 << 7,), "names"), _zeros("<U1", (1 << 24,), "names")),
    "names": (_filled(b"", b"a", MAX_DOCUMENT), _filled(b"", b"a\n", MAX_DOCUMENT)),
    "video": (_zeros("|u1", (2, 1 << 25), "images", "mean_field", "modes", "weights", "chosen"),),
    "image png": (_png(13_000, 8, 2), _png(9_000, 8, 0), _png(5_000, 8, 2), _png(3_500, 16, 2)),
    "image jpeg": (_jpeg(13_000), _jpeg(5_000)),
    "image of a camera": (_jpeg(30_000), _jpeg(8_000), _png(8_000, 8, 2)),
    "numbers of tracks": (_filled(b'{"frame_numbers": [', b"1,", MAX_DOCUMENT // 4, b"1]}"),),
    "tracks": (
        _filled(b"identity,frame,row,column,x,y,confidence\n", b"1,1,1,1,1,1,1\n", 4_000_000),
        _filled(b"", b'"', 1_000_000),
    ),
}
