"""What `versions.py` lets each version of mixfield compute: a fixed set of answers, and fixed workloads to time.

    python benchmarks/version_cases.py prepare INPUTS             # photographs, scores, masks, models: once, for both
    python benchmarks/version_cases.py answers INPUTS OUTPUT OLD  # OLD: the output of the old version
    python benchmarks/version_cases.py speed INPUTS [ONLY]        # names of workloads on stdin, seconds on stdout

This file runs in both versions, so it may use only names that both have, and gives every setting whose default
may change.
"""

from __future__ import annotations

import inspect
import json
import os
import runpy
import shutil
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import mixfield as mf
from mixfield.scene.ground import Ground
from mixfield.temporal.flow import disjoint_paths
from mixfield.temporal.timegrid import Ends, Motion, unroll_all

Arrays = dict[str, np.ndarray]
Work = Callable[[], Any]

DATA = Path(os.environ.get("MIXFIELD_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")).resolve()
MODELS = ("Grids_11", "Segmentation_11", "DBN_11", "CSP_11", "ObjectDetection_11", "Promedus_12")
PHOTOGRAPHS = 6
FRAMES = range(100, 110)  # of PETS 2009 S2.L1
CAMERAS = {"View_001.xml": "vtest.avi", "View_008.xml": "views/View_008/frame_%04d.jpg"}
AREA = [-14.0696, -14.2740, 4.9813, 1.7335]  # the usual area of interest, metres
FRAME_RATE = 7.0
DAMPING = 0.8  # of the released program, and the default of the first version
KERNELS = {"smooth_sxy": 3.0, "smooth_weight": 3.0, "sxy": 67.0, "srgb": 3.0, "weight": 4.0}
SAVED = ("grid 0", "model Promedus_12", "photograph 0, 8 modes", "frame 0")  # one of each family

# ---------------------------------------------------------------- inputs, prepared once


def prepare(folder: Path) -> None:
    """Write ``arrays.npz`` (photographs, scores, masks), ``scene.toml`` and UAI models, as far as there are data."""
    arrays: Arrays = {}
    for name, write in {"uai": copy_models, "segmentation": read_photographs, "people": read_masks}.items():
        if (DATA / name).is_dir():
            arrays |= write(folder)
        else:
            print(f"SKIPPED what needs {DATA / name}, which is absent; set MIXFIELD_DATA to the folder of the data\n")
    np.savez(folder / "arrays.npz", **arrays)


def copy_models(folder: Path) -> Arrays:
    """Models and evidence are copied, there are no arrays."""
    for name in MODELS:
        for suffix in (".uai", ".uai.evid"):
            shutil.copy(DATA / "uai" / "uai2014" / (name + suffix), folder)
    return {}


def read_photographs(folder: Path) -> Arrays:  # noqa: ARG001
    """Images (H, W, 3) and scores (H, W, 21), and smooth random costs for the first."""
    from scipy.ndimage import gaussian_filter

    reader = runpy.run_path(str(DATA / "load.py"))
    names = reader["names"]("segmentation/voc")
    arrays: Arrays = {}
    for k, name in enumerate(names[:: len(names) // PHOTOGRAPHS][:PHOTOGRAPHS]):
        arrays[f"image {k}"], _, arrays[f"scores {k}"] = reader["load"]("segmentation/voc", name)
    noise = gaussian_filter(np.random.default_rng(0).normal(size=arrays["scores 0"].shape), (8, 8, 0))
    return arrays | {"smooth costs": (2 * noise / noise.std()).astype(np.float32)}


def read_masks(folder: Path) -> Arrays:
    """(T, H, W) foreground of `FRAMES` for each camera, and the scene of these cameras."""
    recording = DATA / "people" / "pets09-s2l1"
    cameras = [f"[[camera]]\ncalibration = {json.dumps(str(recording / name))}" for name in CAMERAS]
    (folder / "scene.toml").write_text("\n".join([f"area = {AREA}", *cameras]))
    return {f"masks {c}": foreground(recording / film) for c, film in enumerate(CAMERAS.values())}


def foreground(film: Path) -> np.ndarray:
    """(T, H, W) what stands out from a background learned from every fourth of 400 frames."""
    import cv2

    capture, background = cv2.VideoCapture(str(film)), cv2.createBackgroundSubtractorMOG2(100, 36.0, True)
    kept = []
    for k in range(400):
        image = capture.read()[1]
        if k % 4 == 0:
            background.apply(image, learningRate=1.0 / (k // 4 + 1))  # all with the same weight
        if k in FRAMES:
            kept.append(image)
    return np.stack([cv2.medianBlur(background.apply(image, learningRate=0.0), 5) == 255 for image in kept])


# ---------------------------------------------------------------- answers


def cases(inputs: Path, old: Path) -> dict[str, Work]:
    """The fixed set; each gives a posterior, tracks, or marginals (n, L)."""
    arrays = dict(np.load(inputs / "arrays.npz"))
    works = grids() | models(inputs) | photographs(arrays) | people(inputs, arrays)
    return works | {f"{name}, loaded": partial(mf.load, old / f"{name}.saved") for name in SAVED if name in works}


def grids() -> dict[str, Work]:
    """8 modes of 20 fields of 13 x 13 spins: both strengths and both signs of the couplings, every fifth no grid."""
    works: dict[str, Work] = {}
    for k in range(20):
        preset, topology = ("mmmf", "weller")[k % 2], "random" if k % 5 == 4 else "grid"
        field = mf.datasets.random_ising(13, preset=preset, attractive=k % 4 > 1, topology=topology, rng=k)
        works[f"grid {k}"] = partial(mf.infer, field, 8, **paper_options())
    return works


def models(inputs: Path) -> dict[str, Work]:
    """4 modes of UAI models, with their evidence."""
    files, options = sorted(inputs.glob("*.uai")), paper_options()
    return {
        f"model {file.stem}": lambda file=file: mf.infer(mf.read_uai(file, f"{file}.evid"), 4, **options)
        for file in files
    }


def paper_options() -> dict[str, Any]:
    """What makes `mf.infer` the paper's method, in versions that do more by default."""
    if "collapse" not in inspect.signature(mf.infer).parameters:
        return {}
    from mixfield.mixture import Search

    return {"collapse": False, "min_distance": 0, "search": Search(rise=np.inf)}


def photographs(arrays: Arrays) -> dict[str, Work]:
    """One mode at full size, 8 modes at a third of it, and the drop-in module."""
    works: dict[str, Work] = {}
    for k in range(sum(name.startswith("image") for name in arrays)):
        image, scores, kernels = arrays[f"image {k}"], arrays[f"scores {k}"], mf.Kernels(**KERNELS)
        works[f"photograph {k}, 1 mode"] = partial(mf.segment, image, scores, 1, kernels=kernels)
        works[f"photograph {k}, 8 modes"] = partial(mf.segment, image[::3, ::3], scores[::3, ::3], 8, kernels=kernels)
        works[f"photograph {k}, drop-in"] = partial(drop_in, image, -np.log(np.maximum(scores, 1e-8)))
    return works


def people(inputs: Path, arrays: Arrays) -> dict[str, Work]:
    """4 modes of each frame of a recording, and the tracks through them; these also with fields solved to 1e-6."""
    if not (inputs / "scene.toml").is_file():
        return {}
    scene, frames = mf.read_scene(inputs / "scene.toml"), masks_of_frames(arrays)
    detected = cache(lambda t: mf.detect(scene, frames[t], 4, damping=DAMPING))
    works: dict[str, Work] = {f"frame {t}": partial(detected, t) for t in range(len(frames))}
    works["track"] = lambda: mf.track([detected(t) for t in range(len(frames))], scene, frame_rate=FRAME_RATE)
    finely = partial(
        mf.detect, scene, n_modes=4, damping=DAMPING, solver=mf.Solver(tolerance=1e-6, max_iterations=3000)
    )
    works["track, solved to 1e-6"] = lambda: mf.track(map(finely, frames), scene, frame_rate=FRAME_RATE)
    return works


def masks_of_frames(arrays: Arrays) -> list[list[np.ndarray]]:
    """For each frame one mask per camera."""
    cameras = [arrays[name] for name in sorted(arrays) if name.startswith("masks")]
    return [list(masks) for masks in zip(*cameras, strict=True)]


def drop_in(image: np.ndarray, unary: np.ndarray) -> np.ndarray:
    """(n, L) marginals after ten iterations of the drop-in module."""
    height, width, n_labels = unary.shape
    crf = mf.pydensecrf.densecrf.DenseCRF2D(width, height, n_labels)
    crf.setUnaryEnergy(np.ascontiguousarray(unary.reshape(-1, n_labels).T, np.float32))
    crf.addPairwiseGaussian(sxy=KERNELS["smooth_sxy"], compat=KERNELS["smooth_weight"])
    crf.addPairwiseBilateral(sxy=KERNELS["sxy"], srgb=KERNELS["srgb"], rgbim=image, compat=KERNELS["weight"])
    return np.asarray(crf.inference(10)).T


def answer(result: Any) -> Arrays:
    """Labels (K, n), log_z (K,) and marginals (K, n, L), the modes in the order of log_z."""
    if isinstance(result, mf.MixturePosterior):
        modes = sorted(result.modes, key=lambda mode: -mode.log_z)
        q = np.stack([mode.marginals.reshape(-1, mode.marginals.shape[-1]) for mode in modes]).astype(np.float32)
        labels = np.stack([mode.labeling().ravel() for mode in modes])
        return {"labels": labels, "log_z": np.array([mode.log_z for mode in modes]), "marginals": q}
    if isinstance(result, np.ndarray):
        return {"labels": result.argmax(-1)[None], "log_z": np.zeros(0), "marginals": result[None]}
    # tracks: who stands in which cell, and the cost; without marginals no two labels are equally good
    rows, columns = result.ground.shape
    labels = np.zeros((result.frames, rows, columns), np.int64)
    labels[result.table["frame"], result.table["row"], result.table["column"]] = result.table["identity"] + 1
    return {"labels": labels.reshape(1, -1), "log_z": np.array([result.cost]), "marginals": np.zeros(0)}


def write_answers(inputs: Path, output: Path, old: Path) -> None:
    """One file for each answer, and `SAVED` as posteriors save themselves."""
    works = cases(inputs, old)
    (output / "cases.json").write_text(json.dumps(list(works)))
    for name, work in works.items():
        try:
            result = work()
            np.savez(output / f"{name}.npz", **answer(result))
            if name in SAVED:
                result.save(output / f"{name}.saved")
        except Exception:  # the missing file says that there is no answer
            print(f"{name}:\n{traceback.format_exc()}", file=sys.stderr)


# ---------------------------------------------------------------- speed


def workloads(inputs: Path) -> dict[str, Work]:
    """What is timed; everything before the calls is set-up."""
    arrays = dict(np.load(inputs / "arrays.npz"))
    ising = mf.datasets.random_ising(64)
    potts = mf.FactorGraph.potts_grid(np.random.default_rng(0).normal(size=(32, 32, 5)), 0.8)
    walk = mf.datasets.walking_people(n_frames=20)
    posteriors = [mf.detect(walk.scene, list(masks), 2) for masks in walk.masks]
    works: dict[str, Work] = {
        "mean field, Ising 64x64": partial(mf.mean_field, ising),
        "4 modes, Ising 64x64": partial(mf.infer, ising, 4),
        "mean field, Potts 32x32x5": partial(mf.mean_field, potts),
        "4 modes, Potts 32x32x5": partial(mf.infer, potts, 4),
        "tracking, 20 frames": partial(mf.track, posteriors, walk.scene),
        "KSP, 1500 frames of 784 cells": partial(shortest_paths, *random_walks(1500, 28)),
    }
    if "image 0" in arrays:
        image, scores = arrays["image 0"], arrays["scores 0"]
        works["drop-in, 10 iterations"] = partial(drop_in, image, arrays["smooth costs"])
        works["dense mean field"] = lambda: mf.mean_field(mf.DenseCRF.from_probabilities(scores, image, **KERNELS))
        works["4 modes of a photograph"] = partial(mf.segment, image, scores, 4, kernels=mf.Kernels(**KERNELS))
    if (inputs / "scene.toml").is_file():
        scene, masks = mf.read_scene(inputs / "scene.toml"), masks_of_frames(arrays)[0]
        works["people, 1 mode"] = partial(mf.detect, scene, masks, 1)
        works["people, 4 modes"] = partial(mf.detect, scene, masks, 4)
    return works


def random_walks(frames: int, side: int, people: int = 8) -> tuple[np.ndarray, Motion]:
    """(T, n) costs of cells where people walk, unseen in a tenth of the frames, with false ones; and their motion."""
    rng = np.random.default_rng(0)
    q = np.minimum(1e-3 * np.exp(rng.normal(0.0, 1.5, (frames, side * side))), 0.3)
    place = rng.integers(0, side, (people, 2))
    for row in q:
        place = np.clip(place + rng.integers(-1, 2, (people, 2)), 0, side - 1)
        seen = (side * place[:, 0] + place[:, 1])[rng.random(people) < 0.9]
        row[seen] = rng.uniform(0.6, 0.99, len(seen))
        row[rng.integers(len(row))] = rng.uniform(0.5, 0.99)
    return np.log1p(-q) - np.log(q), Motion((side, side), 1, Ground((side, side), 0.5).border())


def shortest_paths(costs: np.ndarray, motion: Motion) -> float:
    """Cost of the best set of paths."""
    grid = unroll_all(len(costs), motion, Ends.open(motion))
    return disjoint_paths(grid.graph, costs.ravel()).cost


def fastest(work: Work) -> tuple[float, float]:
    """Processor and wall seconds of the fastest call in a tenth of a second, of one call if it takes longer."""
    taken: list[tuple[float, float]] = []
    while sum(wall for _, wall in taken) < 0.1:
        cpu, wall = time.process_time(), time.perf_counter()
        work()
        taken.append((time.process_time() - cpu, time.perf_counter() - wall))
    return min(cpu for cpu, _ in taken), min(wall for _, wall in taken)


def answer_requests(inputs: Path, only: Path = Path()) -> None:
    """Write the names of the workloads that contain ``only``, once compiled, then the seconds of those asked for."""
    works = {name: work for name, work in workloads(inputs).items() if only.name in name}
    for work in works.values():
        work()
    print(json.dumps(list(works)), flush=True)
    for name in sys.stdin:
        print(json.dumps(fastest(works[name.strip()])), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # fewer modes than asked for, ten iterations that do not converge
    jobs: dict[str, Callable[..., None]] = {"prepare": prepare, "answers": write_answers, "speed": answer_requests}
    jobs[sys.argv[1]](*map(Path, sys.argv[2:]))
