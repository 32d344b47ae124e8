"""The modes of the frames of a video, made as a batch and loaded one after the other, for ``mixfield video``."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mixfield.cli.field_models import field_settings
from mixfield.cli.options import solver

if TYPE_CHECKING:
    from mixfield.io.scored_frames import Frame, ScoredFrames
    from mixfield.mixture.posterior import MixturePosterior

MODES = "modes"


@dataclass(frozen=True)
class SegmentFrame:
    """The work on one frame: read, segment in several ways, save the posterior.

    Attributes
    ----------
    source : frames and scores.
    modes, logits, seed, threads : options of the verb.
    field : options of `mixfield.segment` about the field, see `field_options`.
    """

    source: ScoredFrames
    modes: int
    field: dict[str, Any]
    logits: bool
    seed: int
    threads: int | None

    def __call__(self, frame: Frame, folder: Path) -> dict[str, Any]:
        """An item of a batch; returns the weights of the modes."""
        import mixfield as mf
        from mixfield.io.scores import read_scores

        assert frame.scores is not None
        started = time.perf_counter()
        image, scores = self.source.picture(frame), read_scores(frame.scores)
        with solver(self.threads) as how:
            posterior = mf.segment(
                image, scores, self.modes, logits=self.logits, rng=self.seed, solver=how, progress=False, **self.field
            )
        (folder / MODES).mkdir()
        posterior.save(folder / MODES / f"{frame.name}.npz")
        return {"weights": posterior.weights.tolist(), "seconds": time.perf_counter() - started}

    def settings(self) -> dict[str, Any]:
        """Everything that the modes depend on; the choice among them is made later."""
        from mixfield import __version__

        fixed = {"mixfield": __version__, "video": True, "modes": self.modes, "logits": self.logits, "seed": self.seed}
        return fixed | field_settings(self.field)


@dataclass(frozen=True, eq=False)
class PendingFrame:
    """A loaded frame whose mode is not chosen yet; a missing frame has only a name.

    Attributes
    ----------
    image : (H, W) or (H, W, 3).
    mean_field : (H, W) labels of the root mode.
    labelings : (K, H, W) labels of all modes.
    weights : (K,) of the modes.
    """

    name: str
    image: Any = None
    mean_field: Any = None
    labelings: Any = None
    weights: Any = None


def load_frames(
    source: ScoredFrames, frames: Iterable[Frame], folder: Path, facts: dict[str, Any], pending: deque[PendingFrame]
) -> Iterator[tuple[Any, MixturePosterior | None, Any]]:
    """Image, modes and weights of each frame, as `mixfield.apps.video.follow` takes them; Nones for a missing frame.

    What the output needs of a frame, without its large marginals, is appended to ``pending``; the caller removes it
    when the mode is chosen.
    """
    import mixfield as mf

    for frame in frames:
        if frame.name not in facts:
            pending.append(PendingFrame(frame.name))
            yield None, None, None
            continue
        image, posterior = source.picture(frame), mf.load(folder / f"{frame.name}.npz")
        labelings, weights = posterior.labelings(), facts[frame.name]["weights"]
        pending.append(PendingFrame(frame.name, image, labelings[posterior.root_mode], labelings, weights))
        yield image, posterior, weights
