"""The rows of the page ``people.md``: MODA at 0.5 and 1 m, with intervals, on all frames and on those kept aside.

Constants were chosen on the first half of the frames of PETS and on every second frame of WILDTRACK; the column *kept
aside* is about the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from experiments.measurements import Row
from experiments.occupancy.pets_curves import detections, mode_detections, trivial_variants
from experiments.people.detector import FILE, DetectedFeet
from experiments.people.frames import occupancy_mean_field, tracked
from experiments.people.ground_part import GroundPart
from experiments.people.heights import HEIGHTS
from experiments.people.moda import Detections, Floats
from experiments.people.pets import ANNOTATED, AREA, Pets
from experiments.people.sign import misses_behind, with_occluders
from experiments.people.wildtrack import CAMERAS, FRAME_RATE, FRAMES, Wildtrack
from experiments.quiet import ignore_warnings
from mixfield import detect, metrics, positions, track
from mixfield.apps import fit_lags, fit_views, synchronise
from mixfield.io import read_detections
from mixfield.mixture import MixturePosterior
from mixfield.scene import Scene
from mixfield.solvers import Mode
from mixfield.temporal.costs import Price, posterior_price
from mixfield.temporal.windows import Windows

RADII = (0.5, 1.0)  # metres
AROUND = 1.0  # metres of ground around the region of one camera in which people are tracked
WINDOWS = Windows(8, 3)  # the integer programs of longer ones take minutes each
FINE = 0.15  # metres: cells half as large put boxes nearer to the people
SHARP = 0.01  # sigma of the local form, a fifth of the default
KEPT: dict[str, Callable[[int], bool]] = {
    "PETS": lambda frame: frame >= ANNOTATED // 2,
    "WILDTRACK": lambda frame: frame % 10 == 5,
    "synthetic": lambda frame: True,  # nothing was chosen on them  # noqa: ARG005
}

Truth = Mapping[int, Floats]


def score(kind: str, truth: Truth, candidates: Sequence[Detections]) -> Row:
    """MODA of the best candidate of each frame at each radius, with its interval; of all frames and of those kept."""
    found: Row = {}
    for radius in RADII:
        frames = metrics.best_detections([metrics.detection_scores(truth, one, radius) for one in candidates])
        kept = [one for frame, one in zip(truth, frames, strict=True) if KEPT[kind](frame)]
        found[f"{radius:g}"] = {
            "moda": metrics.total(frames).moda,
            "interval": list(metrics.bootstrap(frames)),
            "kept": metrics.total(kept).moda,
            "kept_interval": list(metrics.bootstrap(kept)),
            "errors": [one.misses + one.false_positives for one in frames],
            "truths": [one.truths for one in frames],
        }
    return found


def pets(data: Path, views: tuple[int, ...]) -> Row:
    """Mean field and KSP on PETS."""
    recording, frames = Pets(data / "people" / "pets09-s2l1", views), range(ANNOTATED)
    truth, footage = recording.truth(frames), recording.footage()
    found: dict[str, Detections] = {}
    for name, (scene, masks) in _pets_scenes(recording, [footage.masks(frame) for frame in frames]).items():
        fields = {f: occupancy_mean_field(scene, one) for f, one in zip(frames, masks, strict=True)}
        tracks = track([MixturePosterior((mode,)) for mode in fields.values()], scene, frame_rate=recording.frame_rate)
        found |= {f"mean field{name}": detections(fields, scene), f"KSP{name}": tracked(tracks, scene, frames)}
    return {name: score("PETS", truth, [one]) for name, one in found.items()}


def _pets_scenes(recording: Pets, masks: Sequence[Any]) -> dict[str, tuple[Scene, Sequence[Any]]]:
    """Scenes with their masks: as it is, and of several views also the first, fitted, and synchronised and fitted.

    Clocks drift, and lags need no truth: each half has its own.
    """
    scene, chosen = recording.scene(), ANNOTATED // 2
    halves = (slice(chosen), slice(chosen, None))
    if len(recording.views) == 1:
        return {"": (scene, masks)}
    with ignore_warnings():
        together = [frame for half in halves for frame in synchronise(masks, fit_lags(scene, masks[half]))[half]]
        fitted, both = (fit_views(scene, seen[:chosen:8]) for seen in (masks, together))
    first = Pets(recording.folder, recording.views[:1]).scene()
    return {
        " of the first view": (first, [frame[:1] for frame in masks]),
        "": (scene, masks),
        ", fitted": (fitted, masks),
        ", synchronised": (both, together),
    }


def occluders(data: Path) -> Row:
    """Mean field and KSP on view 1 of PETS, without and with learnt occluders, and what they miss behind the sign."""
    recording, frames = Pets(data / "people" / "pets09-s2l1"), range(ANNOTATED)
    truth, footage, rows = recording.truth(frames), recording.footage(), {}
    masks = {frame: footage.masks(frame) for frame in frames}
    kept = {frame: people for frame, people in truth.items() if KEPT["PETS"](frame)}
    for name, scene in {"": recording.scene(), ", occluders learnt": with_occluders(recording)}.items():
        fields = {frame: occupancy_mean_field(scene, one) for frame, one in masks.items()}
        tracks = track([MixturePosterior((mode,)) for mode in fields.values()], scene, frame_rate=recording.frame_rate)
        for method, found in (("mean field", detections(fields, scene)), ("KSP", tracked(tracks, scene, frames))):
            rows[method + name] = score("PETS", truth, [found])
            rows[method + name]["1"]["misses_behind"] = misses_behind(recording, kept, found, 1.0)
    return rows


def detector(data: Path) -> Row:
    """The feet of a detector, as they are and through `mixfield.track`, as single cells and as blobs."""
    recording, frames = Pets(data / "people" / "pets09-s2l1"), range(ANNOTATED)
    scene, truth, detected = recording.scene(), recording.truth(frames), DetectedFeet(recording)
    inside = {f: p[((p >= AREA[:2]) & (p <= AREA[2:])).all(1)] for f, p in detected.feet.items()}
    found = {"detector": inside}
    for name, maps in {"cells": detected.cells(scene.ground), "blobs": detected.blobs(scene.ground)}.items():
        tracks = track(maps, scene, frame_rate=recording.frame_rate)
        found[name] = tracked(tracks, scene, frames)
    boxes = read_detections(recording.folder / FILE)
    for name, doors in {"boxes": None, "boxes, doors at the border": "border"}.items():
        found[name] = tracked(track(boxes, scene, frame_rate=recording.frame_rate, doors=doors), scene, frames)
    return {name: score("PETS", truth, [one]) for name, one in found.items()}


def wildtrack(data: Path, views: tuple[str, ...], noisy: bool) -> Row:
    """Mean field on the whole area of WILDTRACK, of POM's form, of the local one, and with boxes fitted to masks."""
    recording = Wildtrack(data / "people" / "wildtrack", views, noisy)
    fine = replace(recording, cell=FINE)
    local, fine_local = (replace(one.scene, form="local") for one in (recording, fine))
    masks, found = {frame: recording.masks(frame) for frame in FRAMES}, {}
    with ignore_warnings():
        fitted, fine_fitted = (fit_views(one, [masks[frame] for frame in FRAMES[::20]]) for one in (local, fine_local))
    scenes = {"mean field": recording.scene, "local form": local, "local form, fitted": fitted}
    for name, scene in {**scenes, f"local form, fitted, cells of {FINE:g} m": fine_fitted}.items():
        fields = {frame: occupancy_mean_field(scene, one) for frame, one in masks.items()}
        found[name] = score("WILDTRACK", recording.truth(FRAMES), [detections(fields, scene)])
    return found


def few_cameras(data: Path, views: tuple[str, ...]) -> Row:
    """Modes and tracks on the ground near the first camera of WILDTRACK, with noisy silhouettes."""
    recording = Wildtrack(data / "people" / "wildtrack", views, noisy=True, region=views[:1], pixel=1)
    masks, truth = {frame: recording.masks(frame) for frame in FRAMES}, recording.truth(FRAMES)
    scene = fitted_views(recording, masks)
    fields = {frame: occupancy_mean_field(scene, masks[frame]) for frame in FRAMES}
    before = {frame: occupancy_mean_field(recording.scene, masks[frame]) for frame in FRAMES}
    tracks = tracks_around(scene, [MixturePosterior((mode,)) for mode in fields.values()], scene.prior)
    posteriors, informed = lists(scene, masks, None), lists(scene, masks, tracks)
    found = {
        "mean field, not fitted": [detections(before, scene)],
        "heaviest mode": mode_detections(posteriors, scene)[:1],
        **_lists_and_controls(scene, fields, posteriors, informed),
        **{name: [one] for name, one in _all_tracks(fields, posteriors, scene).items()},
        "KSP": [tracks],
        **_sharper(scene, masks),
    }
    return {name: score("WILDTRACK", truth, candidates) for name, candidates in found.items()}


def lists(scene: Scene, masks: Mapping[int, Any], tracks: Detections | None) -> dict[int, MixturePosterior]:
    """Four modes of each frame, of the frame alone or also where tracks through all frames have people."""
    with ignore_warnings():
        return {
            frame: detect(scene, one, 4, criterion="count", expected=None if tracks is None else tracks[frame])
            for frame, one in masks.items()
        }


def _lists_and_controls(
    scene: Scene,
    fields: dict[int, Mode],
    posteriors: dict[int, MixturePosterior],
    informed: dict[int, MixturePosterior],
) -> dict[str, list[Detections]]:
    """Mean field, the best of modes with and without tracks, and the controls of the mean field."""
    trivial = trivial_variants(fields, scene)
    added = {frame: _with_likeliest_empty(mode, scene) for frame, mode in fields.items()}
    return {
        "mean field": trivial[:1],
        "best of 4": mode_detections(posteriors, scene),
        "best of 4 with tracks": mode_detections(informed, scene),
        "control": trivial,
        "harder control": [*trivial[:3], added],
    }


def fitted_views(recording: Wildtrack, masks: Mapping[int, Any]) -> Scene:
    """The scene in the local form, with boxes of the size of the silhouettes in every twentieth frame."""
    with ignore_warnings():
        return fit_views(replace(recording.scene, form="local"), [masks[frame] for frame in FRAMES[::20]])


def _all_tracks(
    fields: Mapping[int, Mode], posteriors: Mapping[int, MixturePosterior], scene: Scene
) -> dict[str, Detections]:
    """KSP without a prior, on the heaviest modes and on the mixed marginals of all modes, and KSP*."""
    single = [MixturePosterior((mode,)) for mode in fields.values()]
    heaviest = [MixturePosterior(posterior.modes[:1]) for posterior in posteriors.values()]
    mixed = [MixturePosterior((Mode(posterior.marginals(), posterior.log_z),)) for posterior in posteriors.values()]
    return {
        "KSP, independent frames": tracks_around(scene, single, None),
        "KSP, heaviest mode": tracks_around(scene, heaviest, scene.prior),
        "KSP, mixture": tracks_around(scene, mixed, scene.prior),
        "KSP*": tracks_around(scene, list(posteriors.values()), scene.prior),
        "KSP*, weights twice": tracks_around(scene, list(posteriors.values()), scene.prior, weights_twice),
    }


def tracks_around(
    scene: Scene, posteriors: Sequence[MixturePosterior], prior: float | None, price: Price = posterior_price
) -> Detections:
    """Tracks on the ground around the region."""
    part = GroundPart.around(scene, AROUND)
    options: dict[str, Any] = {"frame_rate": FRAME_RATE, "doors": "anywhere", "windows": WINDOWS}
    tracks = track(map(part.of, posteriors), part.scene, prior=prior, price=price, **options)
    return tracked(tracks, part.scene, FRAMES)


def weights_twice(weights: Floats, q: Floats) -> Floats:
    """(K,) the price of modes in which a nat of their weights counts for two of the tracks."""
    return posterior_price(weights, q) - np.log(weights)


def _sharper(scene: Scene, masks: Mapping[int, Any]) -> dict[str, list[Detections]]:
    """All but KSP* with the sigma that is best for mean field on the frames that are not kept aside."""
    sharp = replace(scene, variance=(SHARP,) * len(scene.views))
    fields = {frame: occupancy_mean_field(sharp, masks[frame]) for frame in FRAMES}
    tracks = tracks_around(sharp, [MixturePosterior((mode,)) for mode in fields.values()], sharp.prior)
    found = _lists_and_controls(sharp, fields, lists(sharp, masks, None), lists(sharp, masks, tracks))
    return {f"{name}, sigma {SHARP:g}": one for name, one in {**found, "KSP": [tracks]}.items()}


def _with_likeliest_empty(mode: Mode, scene: Scene) -> Floats:
    """The people of a mean field, and one more at its likeliest empty cell."""
    occupied = np.where(scene.interest, mode.marginals[..., 1], 0.0)
    empty = np.where(occupied > 0.5, 0.0, occupied)
    extra = scene.ground.centres().reshape(-1, 2)[[int(empty.argmax())]]
    return np.concatenate([positions(mode, scene), extra])


def heights(data: Path, recording: str) -> Row:
    """One height or several, and how many people are found 1 to 2 m from where they are."""
    kind, truth, found = HEIGHTS[recording](data)
    rows = {name: score(kind, truth, [one]) for name, one in found.items()}
    for name, one in found.items():
        near, far = (metrics.total(metrics.detection_scores(truth, one, radius)).matches for radius in (1.0, 2.0))
        rows[name]["1"]["displaced"] = far - near
    return rows


ROWS: dict[str, tuple[Callable[..., Row], tuple[Any, ...]]] = {
    "PETS view 1": (pets, ((1,),)),
    "PETS views 1 and 8": (pets, ((1, 8),)),
    "PETS view 1, occluders": (occluders, ()),
    "PETS view 1, YOLOv8n": (detector, ()),
    "WILDTRACK, 7 cameras": (wildtrack, (CAMERAS, False)),
    "WILDTRACK, 7 cameras, noisy": (wildtrack, (CAMERAS, True)),
    "WILDTRACK, CVLab1": (few_cameras, (("CVLab1",),)),
    "WILDTRACK, IDIAP2": (few_cameras, (("IDIAP2",),)),
    "WILDTRACK, CVLab1 and IDIAP2": (few_cameras, (("CVLab1", "IDIAP2"),)),
    **{f"Heights: {name}": (heights, (name,)) for name in HEIGHTS},
}


def measure(name: str, data: Path) -> Row:
    """One row of the page by name."""
    work, options = ROWS[name]
    return {"name": name, "methods": work(data, *options)}
