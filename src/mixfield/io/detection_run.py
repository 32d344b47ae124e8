"""People in many frames: one saved posterior per frame in a folder; a stopped run can be resumed."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mixfield import __version__, batch
from mixfield.apps.detection import detect, positions
from mixfield.errors import MixfieldError
from mixfield.io.footage import Footage
from mixfield.io.mask_check import blobs
from mixfield.mixture.posterior import MixturePosterior, load
from mixfield.scene.scene import Scene
from mixfield.solvers.options import Solver


@dataclass(frozen=True)
class DetectionRun:
    """A folder of posteriors, ``frame_000000.npz`` and so on.

    Attributes
    ----------
    folder : of the posteriors.
    scene : their scene.
    n_modes, criterion : see `mixfield.detect`.
    """

    folder: Path
    scene: Scene
    n_modes: int = 4
    criterion: str = "field"

    def path(self, frame: int) -> Path:
        """The file of a frame."""
        return self.folder / _file_name(frame)

    def load(self, frames: Iterable[int]) -> dict[int, MixturePosterior]:
        """The saved posteriors by frame number."""
        return {frame: load(self.path(frame)) for frame in frames}

    def run(self, footage: Footage, frames: Sequence[int], *, solver: Solver | None = None) -> Iterator[int]:
        """Compute and save the missing frames; yields each when it is done, raises at the first failure."""
        task = DetectionTask(self.scene, footage, self.n_modes, self.criterion, solver)
        for outcome in self.outcomes(task, footage, frames):
            if outcome.failure is not None:
                raise MixfieldError(outcome.failure)
            yield int(outcome.name)

    def outcomes(
        self, task: batch.Work, footage: Footage, frames: Sequence[int], *, engine: batch.Engine | None = None
    ) -> Generator[batch.Outcome]:
        """Run ``task``, such as `DetectionTask`, on frames that are missing or whose files have changed.

        See `mixfield.batch.map`.
        """
        items = [batch.Item(str(frame), frame, inputs=footage.files(frame)) for frame in frames]
        return batch.map(task, items, self.folder, settings=self._settings(footage), engine=engine)

    def _settings(self, footage: Footage) -> dict[str, object]:
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
            "background": [camera.method if camera.masks is None else None for camera in footage.cameras],
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


@dataclass(frozen=True)
class DetectionTask:
    """Detects the people of one frame and saves the posterior; returns the positions of the heaviest mode, and for each
    camera the number of blobs of its mask and of those with the size of a person."""

    scene: Scene
    footage: Footage
    n_modes: int = 4
    criterion: str = "field"
    solver: Solver | None = None

    def __call__(self, frame: int, folder: Path) -> dict[str, Any]:
        masks = self.footage.masks(frame)
        posterior = detect(self.scene, masks, self.n_modes, criterion=self.criterion, solver=self.solver)
        posterior.save(folder / _file_name(frame))
        counted = [blobs(mask, view) for mask, view in zip(masks, self.scene.views, strict=True)]
        return {
            "people": positions(posterior.modes[0], self.scene).tolist(),
            "blobs": [[of_view.count, of_view.people] for of_view in counted],
        }


def _file_name(frame: int) -> str:
    return f"frame_{frame:06d}.npz"
