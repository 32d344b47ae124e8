"""People in many frames: one saved posterior per frame in a folder, ``frame_000000.npz`` and so on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mixfield import __version__, batch
from mixfield.apps.detection import detect, positions
from mixfield.io.footage import Footage
from mixfield.io.mask_check import blobs
from mixfield.mixture.posterior import MixturePosterior, load
from mixfield.scene.scene import Scene
from mixfield.solvers.options import Solver


@dataclass(frozen=True)
class DetectionTask:
    """The work on one frame, for `mixfield.batch.map`: detect its people and save the posterior.

    Attributes
    ----------
    scene, footage : of the recording.
    n_modes, criterion, solver : see `mixfield.detect`.
    """

    scene: Scene
    footage: Footage
    n_modes: int = 4
    criterion: str = "field"
    solver: Solver | None = None

    def __call__(self, frame: int, folder: Path) -> dict[str, Any]:
        """The positions of the heaviest mode, and for each camera how many blobs its mask has, and how many of them
        have the size of a person."""
        masks = self.footage.masks(frame)
        posterior = detect(self.scene, masks, self.n_modes, criterion=self.criterion, solver=self.solver)
        posterior.save(posterior_path(folder, frame))
        counted = [blobs(mask, view) for mask, view in zip(masks, self.scene.views, strict=True)]
        return {
            "people": positions(posterior.modes[0], self.scene).tolist(),
            "blobs": [[of_view.count, of_view.people] for of_view in counted],
        }

    def items(self, frames: Iterable[int]) -> list[batch.Item]:
        """The frames as items of a batch; one whose files have changed is computed again."""
        return [batch.Item(str(frame), frame, inputs=self.footage.files(frame)) for frame in frames]

    def settings(self) -> dict[str, object]:
        """Everything that the results depend on, except the files of the footage."""
        scene = self.scene
        digest = hashlib.sha256()
        for view in scene.views:
            digest.update(view.boxes.tobytes())
            for more in (view.observed, view.sizes):
                digest.update(b"" if more is None else more.tobytes())
        digest.update(np.asarray(scene.interest).tobytes())
        return {
            "mixfield": __version__,
            "background": [camera.method if camera.masks is None else None for camera in self.footage.cameras],
            "scene": digest.hexdigest(),
            "shape": list(scene.ground.shape),
            "cell": scene.ground.cell,
            "origin": list(scene.ground.origin),
            "prior": scene.prior,
            "variance": None if scene.variance is None else list(scene.variance),
            "reduction": scene.reduction,
            "form": scene.form,
            "heights": list(scene.heights),
            "modes": self.n_modes,
            "criterion": self.criterion,
        }


def posterior_path(folder: Path, frame: int) -> Path:
    """The file of the posterior of a frame."""
    return folder / f"frame_{frame:06d}.npz"


def load_posteriors(folder: Path, frames: Iterable[int]) -> dict[int, MixturePosterior]:
    """The saved posteriors by frame number."""
    return {frame: load(posterior_path(folder, frame)) for frame in frames}
