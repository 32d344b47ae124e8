"""The modes of the frames of a video, made as a batch and loaded one after the other, for ``mixfield video``."""

from __future__ import annotations

import time
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mixfield.cli.field_models import field_settings
from mixfield.cli.options import solver
from mixfield.errors import MixfieldError

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
    shape : (H, W, L) that the scores of every frame must have, see `first_shape`; not checked if it is empty.
    """

    source: ScoredFrames
    modes: int
    field: dict[str, Any]
    logits: bool
    seed: int
    threads: int | None
    shape: tuple[int, ...] = ()

    def __call__(self, frame: Frame, folder: Path) -> dict[str, Any]:
        """An item of a batch; returns the seconds that it took."""
        import mixfield as mf
        from mixfield._pictures import intensities
        from mixfield.apps import FieldModel, segmentation_energy

        started = time.perf_counter()
        image, probs = self.source.picture(frame), self.probabilities(frame)
        if self.shape and probs.shape != self.shape:
            raise MixfieldError(f"all frames must be alike, got {_size(probs.shape)} after {_size(self.shape)}")
        with solver(self.threads) as how:
            if "kernels" in self.field:
                energy = segmentation_energy(image, probs, **self.field)
                posterior = mf.infer(energy, self.modes, rng=self.seed, solver=how)
            else:
                # other frames say more than the features by which a list ends
                model = replace(self.field.get("model") or FieldModel.default(), least_gain=0.0, parts=False)
                found = model.modes(probs, picture := intensities(image), self.modes, rng=self.seed, solver=how)
                posterior = model.calibrate(found, probs, picture, self.modes)
        (folder / MODES).mkdir()
        posterior.save(folder / MODES / f"{frame.name}.npz")
        return {"seconds": time.perf_counter() - started}

    def probabilities(self, frame: Frame) -> Any:
        """(H, W, L) of the scores of a frame."""
        from mixfield.apps.evidence import probabilities
        from mixfield.io.scores import read_scores

        assert frame.scores is not None
        shape = self.source.picture(frame).shape[:2]
        return probabilities(read_scores(frame.scores), shape, logits=self.logits)

    def first_shape(self) -> tuple[int, ...]:
        """(H, W, L) of the first frame that can be read; empty without one."""
        for frame in self.source.frames():
            with suppress(MixfieldError, OSError):  # its failure is reported when its turn comes
                if frame.scores is not None:
                    return tuple(self.probabilities(frame).shape)
        return ()

    def settings(self) -> dict[str, Any]:
        """Everything that the modes depend on; the choice among them is made later."""
        from mixfield import __version__

        fixed = {"mixfield": __version__, "video": True, "modes": self.modes, "logits": self.logits, "seed": self.seed}
        return fixed | field_settings(self.field)


def _size(shape: tuple[int, ...]) -> str:
    height, width, labels = shape
    return f"(H, W) = ({height}, {width}) with {labels} labels"


@dataclass(frozen=True, eq=False)
class PendingFrame:
    """A loaded frame whose mode is not chosen yet; a missing frame has only a name.

    Attributes
    ----------
    image : (H, W) or (H, W, 3).
    mean_field : (H, W) labels of the root mode.
    labelings : (K, H, W) labels of all modes.
    """

    name: str
    image: Any = None
    mean_field: Any = None
    labelings: Any = None


def load_frames(
    work: SegmentFrame, frames: Iterable[Frame], folder: Path, done: Container[str]
) -> Iterator[tuple[Any, MixturePosterior | None, Any, PendingFrame]]:
    """Image, modes and scores of each frame, Nones if it is missing, as `mixfield.apps.video.follow` takes them.

    The fourth is what the output needs of the frame, without its large marginals.
    """
    import mixfield as mf

    for frame in frames:
        if frame.name not in done:
            yield None, None, None, PendingFrame(frame.name)
            continue
        image, posterior = work.source.picture(frame), mf.load(folder / f"{frame.name}.npz")
        labelings = posterior.labelings()
        pending = PendingFrame(frame.name, image, labelings[posterior.root_mode], labelings)
        yield image, posterior, work.probabilities(frame), pending
