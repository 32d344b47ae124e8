"""The sequences in which people are tracked: a recording, and synthetic walks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.people.frames import frame_mean_fields
from experiments.people.moda import Detections, Floats
from experiments.people.pets import Pets
from experiments.tracking.doubts import doubtful_walk
from mixfield.io.detection_run import load_posteriors
from mixfield.mixture import MixturePosterior
from mixfield.scene import Ground
from mixfield.temporal import Windows

WINDOWS, SECONDS = Windows(50, 15), 20.0  # windows of a recording, and the time limit of each


@dataclass(frozen=True, eq=False)
class TrackingProblem:
    """A sequence with the truth.

    Attributes
    ----------
    posteriors : the modes of frames 0, 1, 2, ...
    single : returns the mean fields of the frames, as posteriors with one mode.
    ground : the ground plane.
    truth : (k, 2) true positions of each frame.
    identities : (k,) identities of these positions.
    counted : (rows, columns) cells in which detections count.
    options : of `mixfield.track`.
    """

    posteriors: Sequence[MixturePosterior]
    single: Callable[[], Sequence[MixturePosterior]]
    ground: Ground
    truth: Mapping[int, Floats]
    identities: Mapping[int, Sequence[int]]
    counted: NDArray[np.bool_]
    options: dict[str, Any] = field(default_factory=dict)

    def detections(self, posteriors: Sequence[MixturePosterior], k: int = 0) -> Detections:
        """Cells above one half in mode ``k`` of each frame, or in its last mode if it has fewer."""
        marginals = [p.modes[min(k, len(p.modes) - 1)].marginals[..., 1] for p in posteriors]
        return {t: self.ground.centres()[(q > 0.5) & self.counted] for t, q in enumerate(marginals)}

    def detections_by_mode(self) -> list[Detections]:
        """The detections of the first, second, ... modes."""
        most = max(len(posterior.modes) for posterior in self.posteriors)
        return [self.detections(self.posteriors, k) for k in range(most)]


@dataclass(frozen=True)
class Recording:
    """The first frames of a recording, whose posteriors are in ``folder``."""

    recording: Pets
    frames: int
    folder: Path

    @property
    def name(self) -> str:
        return f"PETS 2009 S2.L1, view {' and '.join(map(str, self.recording.views))}, {self.frames} frames"

    def load(self) -> TrackingProblem:
        frames, scene = range(self.frames), self.recording.scene()
        people = self.recording.people(frames)
        return TrackingProblem(
            posteriors=list(load_posteriors(self.folder, frames).values()),
            single=self._mean_fields,
            ground=scene.ground,
            truth={frame: feet for frame, (_, feet) in people.items()},
            identities={frame: names.tolist() for frame, (names, _) in people.items()},
            counted=scene.interest,
            options={"frame_rate": self.recording.frame_rate, "windows": WINDOWS, "time_limit": SECONDS},
        )

    def _mean_fields(self) -> list[MixturePosterior]:
        return [MixturePosterior((mode,)) for mode in frame_mean_fields(self.recording, range(self.frames)).values()]


@dataclass(frozen=True)
class SyntheticWalk:
    """A synthetic walk with ambiguous frames (`experiments.tracking.doubts.doubtful_walk`)."""

    seed: int
    frames: int = 80

    @property
    def name(self) -> str:
        return "Walks with doubts"

    def load(self) -> TrackingProblem:
        walk = doubtful_walk(self.frames, rng=self.seed)
        rows = [walk.truth[walk.truth["frame"] == t] for t in range(self.frames)]
        return TrackingProblem(
            posteriors=walk.posteriors,
            single=lambda: [MixturePosterior(posterior.modes[:1]) for posterior in walk.posteriors],
            ground=walk.ground,
            truth={t: np.stack([r["x"], r["y"]], axis=-1) for t, r in enumerate(rows)},
            identities={t: r["identity"].tolist() for t, r in enumerate(rows)},
            counted=np.ones(walk.ground.shape, bool),
        )


Source = Recording | SyntheticWalk
