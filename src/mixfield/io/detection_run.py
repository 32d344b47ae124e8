"""People in many frames: one saved posterior per frame in a folder, and what is there already is not done again."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mixfield import batch
from mixfield.apps.detection import detect, positions
from mixfield.batch.manifest import Manifest
from mixfield.errors import MixfieldError
from mixfield.io.footage import Footage
from mixfield.mixture.posterior import MixturePosterior, load
from mixfield.scene.scene import Scene
from mixfield.solvers.options import Solver


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
        return self.folder / _name(frame)

    def missing(self, frames: Iterable[int]) -> list[int]:
        """Frames that are not there yet."""
        return [frame for frame in frames if not self.path(frame).exists()]

    def load(self, frames: Iterable[int]) -> dict[int, MixturePosterior]:
        """The posteriors of frames that are there."""
        return {frame: load(self.path(frame)) for frame in frames}

    def run(self, footage: Footage, frames: Sequence[int], *, solver: Solver | None = None) -> Iterator[int]:
        """Compute and save what is missing; yields each frame when it is done, and raises at one that fails."""
        work = Detected(self.scene, footage, self.n_modes, self.criterion, solver)
        for outcome in self.outcomes(work, footage, frames):
            if outcome.failure is not None:
                raise MixfieldError(outcome.failure)
            yield int(outcome.name)

    def outcomes(
        self, work: batch.Work, footage: Footage, frames: Sequence[int], *, engine: batch.Engine | None = None
    ) -> Generator[batch.Outcome]:
        """Do ``work``, such as `Detected`, on what is missing or made from other files; see `mixfield.batch.map`."""
        items = [batch.Item(str(frame), frame, inputs=footage.files(frame)) for frame in frames]
        return batch.map(work, items, self.folder, settings=self._settings(), engine=engine)

    def prepare(self) -> None:
        """Make the folder; complain if it holds results of another scene or of other settings."""
        Manifest(self.folder, self._settings()).close()

    def _settings(self) -> dict[str, object]:
        scene = self.scene
        digest = hashlib.sha256()
        for view in scene.views:
            digest.update(view.boxes.tobytes())
        digest.update(np.asarray(scene.interest).tobytes())
        return {
            "scene": digest.hexdigest(),
            "shape": list(scene.ground.shape),
            "cell": scene.ground.cell,
            "origin": list(scene.ground.origin),
            "prior": scene.prior,
            "variance": None if scene.variance is None else list(scene.variance),
            "reduction": scene.reduction,
            "modes": self.n_modes,
            "criterion": self.criterion,
        }


@dataclass(frozen=True)
class Detected:
    """The work on one frame: detect people, save the posterior; tells where they are in the heaviest mode."""

    scene: Scene
    footage: Footage
    n_modes: int = 4
    criterion: str = "field"
    solver: Solver | None = None

    def __call__(self, frame: int, folder: Path) -> dict[str, Any]:
        masks = self.footage.masks(frame)
        posterior = detect(self.scene, masks, self.n_modes, criterion=self.criterion, solver=self.solver)
        posterior.save(folder / _name(frame))
        return {"people": positions(posterior.modes[0], self.scene).tolist()}


def _name(frame: int) -> str:
    return f"frame_{frame:06d}.npz"
