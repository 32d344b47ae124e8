"""Every parser of the library with well-formed files to begin from.

Whatever a file holds, a parser reads it or refuses it with a `MixfieldError`; anything else is a finding.
"""

from __future__ import annotations

import io
import json
import re
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from fuzz.damage import mutated as mutated
from PIL import Image

import mixfield as mf
from experiments.people import cvml
from mixfield.apps.field_model import FieldModel
from mixfield.batch.manifest import Manifest
from mixfield.errors import CalibrationWarning, MixfieldError, sentence
from mixfield.io import (
    calibration,
    detections,
    libdai,
    names,
    opencv,
    pom,
    read_image,
    read_label_map,
    read_scores,
    scene_file,
    tracks,
    uai,
    write_uai,
)
from mixfield.io.frame_source import VideoFile
from mixfield.reports import video_file
from mixfield.reports.video_page import video_page
from mixfield.scene.ground import Ground
from mixfield.scene.scene import Scene
from mixfield.scene.view import View

CORPUS = Path(__file__).parent / "corpus"

MAX_SENTENCE = 1000  # characters of an error message


@dataclass(frozen=True)
class Parser:
    """How a kind of file is read, the end of its name, and files that are fine."""

    suffix: str
    read: Callable[[Path], object]
    seeds: Callable[[], list[bytes]]


class Finding(Exception):
    """What a parser must not do."""


def attempt(parser: Parser, content: bytes) -> str:
    """Read a file with this content: "read" or "refused"; anything else is raised."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file{parser.suffix}"
        path.write_bytes(content)
        try:
            parser.read(path)
        except (MixfieldError, OSError) as error:
            _check_sentence(error)
            return "refused"
    return "read"


def _check_sentence(error: Exception) -> None:
    if isinstance(error, OSError) and error.filename is None and not isinstance(error, FileNotFoundError):
        raise Finding("an error of the system without a file") from error
    if isinstance(error.__cause__ or error.__context__, MemoryError):
        raise Finding("it took all memory") from error
    text = sentence(error)
    if len(text) > MAX_SENTENCE or not text.isprintable():
        raise Finding(f"a message of {len(text)} characters: {text[:80]!r}") from error


def _written(suffix: str, write: Callable[[Path], object]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"seed{suffix}"
        write(path)
        return path.read_bytes()


def _models() -> list[bytes]:
    graph = mf.FactorGraph.from_factors(
        [2, 3], [((0,), np.array([0.0, np.inf])), ((0, 1), np.arange(6.0).reshape(2, 3))]
    )
    bayes = b"BAYES\n2\n2 2\n2\n1 0\n2 0 1\n\n2\n 0.25 0.75\n\n4\n 0.5 0.5 1e-400 1 # end\n"
    return [_written(".uai", lambda path: write_uai(path, graph)), bayes]


def _scene() -> Scene:
    boxes = np.array([[1, 1, 4, 6], [3, 0, 7, 6], [0, 0, 0, 0], [5, 2, 9, 8]], np.int32)
    return Scene(Ground((2, 2), 1.0), (View(10, 8, boxes, name="0"), View(10, 8, boxes, name="1")), prior=0.01)


def _pom_files() -> list[bytes]:
    plain = _written(".pom", lambda path: pom.write_pom(path, _scene(), masks="m-%c-%f.png", frames=range(3)))
    return [plain, b"ROOM -1 -1 1 2\nCAMERA a 20 10\nRECTANGLE a 0 1 2 3 4\nRECTANGLE a 1 notvisible\nPRIOR 0.1\n"]


_K, _R, _T = [[100.0, 0, 32], [0, 100, 24], [0, 0, 1]], [1.5708, 0, 0], [0.0, 1.5, 4.0]


def _json_cameras() -> list[bytes]:
    flat = {"K": _K, "R": _R, "t": _T, "width": 64, "height": 48, "distortion": [0.1, 0, 0, 0, 0]}
    return [json.dumps(flat).encode(), json.dumps({"homography": np.eye(3).tolist(), "width": 9, "height": 9}).encode()]


def _npz(**arrays: object) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **{name: np.asarray(value) for name, value in arrays.items()})
    return buffer.getvalue()


def _opencv_cameras(suffix: str) -> list[bytes]:
    import cv2

    def write(path: Path) -> None:
        storage = cv2.FileStorage(str(path), cv2.FILE_STORAGE_WRITE)
        for name, value in {"K": _K, "R": _R, "t": _T}.items():
            storage.write(name, np.array(value))
        storage.write("width", 64)
        storage.write("height", 48)
        storage.release()

    return [_written(suffix, write)]


_TSAI = b"""<?xml version="1.0" encoding="UTF-8"?>
<Camera name="View_001"><Geometry width="768" height="576" ncx="7.9e+02" nfx="7.9e+02" dx="4.8e-03" dy="4.6e-03"
dpx="5.1e-03" dpy="4.65e-03"/><Intrinsic focal="5.55e+00" kappa1="5.1e-03" cx="3.2e+02" cy="2.4e+02" sx="1.0937"/>
<Extrinsic tx="-4.8e+03" ty="5.5e+03" tz="2.2e+04" rx="1.9" ry="3.9e-01" rz="-1.5"/></Camera>"""

_CVML = b"""<?xml version="1.0"?><dataset name="p"><frame number="0"><objectlist><object id="3">
<box h="75" w="31" xc="514" yc="183"/></object></objectlist></frame><frame number="1"/></dataset>"""

_SCENE_TOML = b"""area = [-2.0, -2.0, 2.0, 2.0]
cell = 0.5
margin = 1.0
density = 0.04
background = "MOG2"
person = { height = 1.75, width = 0.5 }
[[camera]]
ground_points = [[0, 0], [1, 0], [1, 1], [0, 1]]
image_points = [[10, 40], [50, 40], [40, 20], [20, 20]]
size = [64, 48]
masks = "masks/{frame:04d}.png"
footage = "video.avi"
"""


def _read_scene(path: Path) -> object:
    return scene_file.read_scene(path), scene_file.read_footage(path)


def _scenes() -> list[bytes]:
    scene = _written(".toml", lambda path: scene_file.write_scene(path, ["a.json"], (0, 0, 5, 5), footage=["a.avi"]))
    return [_SCENE_TOML, scene, b'pom = "room.pom"\nrows = 2\ncolumns = 2\ncell = 0.5\n[[camera]]\nsize = [20, 10]\n']


def _arrays() -> list[bytes]:
    def npy(array: np.ndarray) -> bytes:
        buffer = io.BytesIO()
        np.save(buffer, array)
        return buffer.getvalue()

    return [npy(np.ones((3, 4, 2), np.float32)), npy(np.arange(12).reshape(3, 4).astype(">i2")), npy(np.zeros((0, 3)))]


def _pictures(kind: str, modes: tuple[str, ...], **options: object) -> Callable[[], list[bytes]]:
    def seeds() -> list[bytes]:
        found, noise = [], np.random.default_rng(0).integers(0, 256, (7, 9), dtype=np.uint8)
        for mode in modes:
            buffer = io.BytesIO()
            Image.fromarray(noise).convert(mode).save(buffer, kind, **options)
            found.append(buffer.getvalue())
        return found

    return seeds


def _camera_images() -> list[bytes]:
    kinds = {
        "PNG": ("L", "RGB"),
        "JPEG": ("L", "RGB"),
        "TIFF": ("RGB",),
        "BMP": ("RGB",),
        "PPM": ("L",),
        "WEBP": ("RGB",),
    }
    return [seed for kind, modes in kinds.items() for seed in _pictures(kind, modes)()]


def _video_files() -> list[bytes]:
    import cv2

    def write(path: Path, codec: str) -> None:
        writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*codec), 10, (64, 48))
        for k in range(4):
            writer.write(np.full((48, 64, 3), 60 * k, np.uint8))
        writer.release()

    return [_written(".avi", lambda path: write(path, "MJPG")), _written(".mp4", lambda path: write(path, "mp4v"))]


def _read_frames(path: Path) -> object:
    video = VideoFile(path)
    return len(video), video.frame(1)


def _posteriors() -> list[bytes]:
    graph = mf.FactorGraph.ising([0.0, 0.1, 0.0], [(0, 1), (1, 2)], 2.0)
    posterior = mf.infer(graph, n_modes=2)
    return [_written(".npz", posterior.save), _written(".npz", lambda path: posterior.save(path, compact=True))]


def _headers() -> list[bytes]:
    return [np.load(io.BytesIO(seed), allow_pickle=False)["header"].tobytes() for seed in _cached_posteriors()]


_cached_posteriors = cache(_posteriors)


def _read_header(path: Path) -> object:
    """A posterior with this header: the checksums of an archive would stop most other damage."""
    header, target = path.read_bytes(), path.with_suffix(".npz")
    exact, compact = (dict(np.load(io.BytesIO(seed))) for seed in _cached_posteriors())
    np.savez(target, **(exact | compact | {"header": np.frombuffer(header, np.uint8)}))
    found = mf.load(target)
    return found.weights, found.log_z, found.marginals()


def _read_manifest(path: Path) -> object:
    path.rename(path.with_name("manifest.jsonl"))
    with Manifest(path.parent, {"modes": 1}) as manifest:
        return manifest.finished(mf_item("a")), manifest.finished(mf_item("b"))


def mf_item(name: str) -> object:
    from mixfield.batch import Item

    return Item(name, None)


def _manifests() -> list[bytes]:
    head = {"format": "mixfield-batch", "version": 1, "settings": {"modes": 1}}
    done = {"item": "a", "stamp": [], "files": {"a/x.npz": "00", "b.txt": "11"}, "facts": {"seconds": 1.5}}
    rows = [head, done, {"item": "b", "failure": "no", "trace": None}, done | {"item": "b", "stamp": [[3, 4], None]}]
    return ["".join(json.dumps(row) + "\n" for row in rows).encode()]


def _sidecars() -> list[bytes]:
    sidecar = {"summary": {"tracks": 2}, "chosen_modes": [0, 1], "frame_numbers": [5, 6], "frame_rate": 7.5}
    return [json.dumps(sidecar).encode()]


def _videos() -> list[bytes]:
    labels = np.zeros((2, 2, 4, 5), np.uint8)
    arrays = {"images": np.zeros((2, 4, 5, 3), np.uint8), "mean_field": labels[:, 0], "modes": labels}
    return [_npz(**arrays, weights=np.full((2, 2), 0.5), chosen=[0, 1], numbers=[3, 4])]


def _read_arrays_of_video(path: Path) -> object:
    """A video of which one array is described by this text: kind, lengths, first bytes."""
    with np.load(io.BytesIO(_videos()[0]), allow_pickle=False) as file:
        arrays = dict(file)
    name, kind, lengths, content = (path.read_bytes().decode("latin-1") + ";;;").split(";", 3)
    if kind in ("u1", "i8", "f4", "f8", "U3", "?", "c16", ">i2") and re.fullmatch(r"[0-9](,[0-9]){0,7}", lengths):
        shape = [int(n) for n in lengths.split(",")]
        array = np.zeros(shape, kind)
        raw = np.frombuffer(content.encode("latin-1")[: array.nbytes], np.uint8)
        array.reshape(-1).view(np.uint8)[: len(raw)] = raw
        arrays[name or "chosen"] = array
    target = path.with_suffix(".npz")
    safe = {name.replace("/", "").replace("\0", "")[:99] or "x": array for name, array in arrays.items()}
    np.savez(target, **safe)
    frames = video_file.read_video(target)
    return video_page(frames)


def _descriptions() -> list[bytes]:
    shapes = {"images": "u1;2,4,5,3", "mean_field": "u1;2,4,5", "modes": "i8;2,2,4,5", "weights": "f8;2,2"}
    shapes |= {"chosen": "i8;2", "numbers": "i8;2", "costs": "f8;2"}
    return [f"{name};{rest};\1".encode() for name, rest in shapes.items()]


def _read_camera(path: Path) -> object:
    """A camera, with the signs of its depths corrected where they must be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        return calibration.read_camera(path)


def _track_tables() -> list[bytes]:
    head = ",".join(tracks.RECORD.names or ())
    return [f"{head}\n{','.join(['1'] * len(tracks.RECORD.names or ()))}\n".encode(), f"{head}\n".encode()]


_BOX_TABLE = b"frame,view,x,y,w,h,score\n0,View_001,1,2,3,4,0.5\n1,View_008,5,6,7,8,0.25\n"
_MOT_TEXT = b"1,-1,10,20,5,8,0.5,-1,-1,-1\n2,3,0,0,4,4\n"
_POINT_TABLE = b"frame,x,y,camera\n0,1.5,-2,0\n3,1,2,1\n"
_COCO_RESULTS = b'[{"image_id": 3, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.7}, {"frame": 2, "x": 1, "y": 2}]'

_FG = b"""# two factors
2

1
3
2
1
0 0.5

2
7 3
3 2
4
0   1e-400
1   2.0
4   0.25
5   1
"""

PARSERS = {
    "uai": Parser(".uai", mf.read_uai, _models),
    "libDAI": Parser(".fg", libdai.read_fg, lambda: [_FG, b"1\n0\n\n\n1\n0 2.5\n", b"0\n"]),
    "evidence": Parser(".evid", uai.read_evidence, lambda: [b"1\n2 0 1 1 0\n", b"2 0 1 3 2\n", b"0\n", b""]),
    "PR": Parser(".PR", uai.read_pr, lambda: [b"PR\n-12.5\n", b"PR\n-inf\n"]),
    "MAR": Parser(".MAR", uai.read_mar, lambda: [b"MAR\n2 2 0.5 0.5 3 0.2 0.3 0.5\n"]),
    "pom": Parser(".pom", lambda path: pom.parse_pom(path).scene(), _pom_files),
    "calibration json": Parser(".json", _read_camera, _json_cameras),
    "calibration npz": Parser(".npz", _read_camera, lambda: [_npz(K=_K, R=_R, t=_T, width=64, height=48)]),
    "calibration OpenCV json": Parser(".json", _read_camera, cache(lambda: _opencv_cameras(".json"))),
    "calibration yaml": Parser(".yaml", _read_camera, cache(lambda: _opencv_cameras(".yaml"))),
    "calibration xml": Parser(".xml", _read_camera, cache(lambda: _opencv_cameras(".xml"))),
    "calibration Tsai": Parser(".xml", _read_camera, lambda: [_TSAI]),
    "annotations": Parser(".xml", cvml.read_cvml, lambda: [_CVML]),
    "scene.toml": Parser(".toml", _read_scene, _scenes),
    "model.toml": Parser(
        ".toml", FieldModel.load, lambda: [_written(".toml", lambda path: FieldModel.default().save(path))]
    ),
    "scores npy": Parser(".npy", read_scores, _arrays),
    "scores npz": Parser(".npz", read_scores, lambda: [_npz(probs=np.ones((3, 4, 2))), _npz(a=np.ones(3), b=2)]),
    "names": Parser(".txt", names.read_names, lambda: [b"sky\nroad\n\xc3\xa4\n", b"one\n"]),
    "names of scores": Parser(
        ".npz", names.names_in_scores, lambda: [_npz(probs=np.ones(3), names=np.array(["a", "bc"])), _npz(a=1)]
    ),
    "label map": Parser(".png", read_label_map, _pictures("PNG", ("L", "P", "1", "RGB"))),
    "image png": Parser(".png", read_image, _pictures("PNG", ("L", "P", "RGB", "RGBA", "LA", "I;16"))),
    "image jpeg": Parser(".jpg", read_image, _pictures("JPEG", ("L", "RGB", "CMYK"))),
    "image tiff": Parser(".tif", read_image, _pictures("TIFF", ("L", "RGB", "F", "I;16"))),
    "image gif": Parser(".gif", read_image, _pictures("GIF", ("L", "P"))),
    "image webp": Parser(".webp", read_image, _pictures("WEBP", ("RGB", "RGBA"))),
    "image bmp": Parser(".bmp", read_image, _pictures("BMP", ("L", "RGB"))),
    "image ppm": Parser(".ppm", read_image, _pictures("PPM", ("L", "RGB"))),
    "image of a camera": Parser(".png", opencv.read_image, _camera_images),
    "video file": Parser(".avi", _read_frames, cache(_video_files)),
    "posterior": Parser(".npz", mf.load, _cached_posteriors),
    "posterior's header": Parser(".json", _read_header, cache(_headers)),
    "video": Parser(".npz", video_file.read_video, cache(_videos)),
    "video's arrays": Parser(".txt", _read_arrays_of_video, _descriptions),
    "numbers of tracks": Parser(".json", tracks.read_sidecar, _sidecars),
    "tracks": Parser(".csv", tracks.read_csv, _track_tables),
    "detections csv": Parser(".csv", detections.read_detections, lambda: [_BOX_TABLE, _POINT_TABLE]),
    "detections json": Parser(".json", detections.read_detections, lambda: [_COCO_RESULTS]),
    "detections MOT": Parser(
        ".txt", detections.read_detections, lambda: [b"1,-1,10,20,5,8,0.5,-1,-1,-1\n2,3,0,0,4,4\n"]
    ),
    "manifest": Parser(".jsonl", _read_manifest, _manifests),
}
