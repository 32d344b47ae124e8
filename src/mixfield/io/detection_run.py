"""People in many frames: one saved posterior per frame in a folder, and what is there already is not done again."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mixfield.apps.detection import detect
from mixfield.errors import MixfieldError, MixfieldWarning
from mixfield.io.footage import Footage
from mixfield.meanfield.solver import Solver
from mixfield.mixture.posterior import MixturePosterior, load
from mixfield.scene.scene import Scene

SETTINGS = "settings.json"


@dataclass(frozen=True)
class DetectionRun:
    """A folder of posteriors, ``frame_000000.npz`` and so on.

    Attributes
    ----------
    folder : where they are.
    scene : what they are about.
    n_modes, criterion : see `mixfield.detect`.
    """

    folder: Path
    scene: Scene
    n_modes: int = 4
    criterion: str = "field"

    def path(self, frame: int) -> Path:
        """The file of a frame."""
        return self.folder / f"frame_{frame:06d}.npz"

    def missing(self, frames: Iterable[int]) -> list[int]:
        """Frames that are not there yet."""
        return [frame for frame in frames if not self.path(frame).exists()]

    def load(self, frames: Iterable[int]) -> dict[int, MixturePosterior]:
        """The posteriors of frames that are there."""
        return {frame: load(self.path(frame)) for frame in frames}

    def run(self, footage: Footage, frames: Sequence[int], *, solver: Solver | None = None) -> Iterator[int]:
        """Compute and save what is missing; yields each frame when it is done."""
        self.prepare()
        for frame in frames:
            if not self.path(frame).exists():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", MixfieldWarning)  # the same facts are notes of the posterior
                    found = detect(
                        self.scene, footage.masks(frame), self.n_modes, criterion=self.criterion, solver=solver
                    )
                found.save(self.path(frame))
            yield frame

    def prepare(self) -> None:
        """Make the folder; complain if it holds results of other settings."""
        self.folder.mkdir(parents=True, exist_ok=True)
        file, now = self.folder / SETTINGS, self._settings()
        if file.exists() and json.loads(file.read_text(encoding="utf-8")) != now:
            raise MixfieldError(
                f"{self.folder} holds results of another scene or of other settings; give another folder, or empty it"
            )
        file.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")

    def _settings(self) -> dict[str, object]:
        scene = self.scene
        digest = hashlib.sha256()
        for view in scene.views:
            digest.update(view.boxes.tobytes())
        digest.update(np.asarray(scene.interest).tobytes())
        return {
            "scene": digest.hexdigest(),
            "shape": list(scene.ground.shape),
            "prior": scene.prior,
            "variance": None if scene.variance is None else list(scene.variance),
            "reduction": scene.reduction,
            "modes": self.n_modes,
            "criterion": self.criterion,
        }
