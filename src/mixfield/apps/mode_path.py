"""The choice of one mode per frame of a video: is another mode better than mean field?

The log-odds of each mode against mean field add up what the network says of the changed pixels, what their colours say
(`appearance`), and whether its masks agree better with those of the frames before and after (`alignment`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield._pictures import intensities
from mixfield.apps.alignment import AlignedMasks
from mixfield.apps.appearance import Change, ColourModel, colour_bins, common_colours, label_histograms
from mixfield.apps.change_features import change_features
from mixfield.apps.evidence import probabilities
from mixfield.errors import MixfieldError
from mixfield.mixture.posterior import MixturePosterior
from mixfield.temporal.trellis import mode_probabilities, shortest_path

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

UNKNOWN = -1.1  # log-odds where there are no scores: the median of alternatives


@dataclass(frozen=True)
class Consistency:
    """The log-odds of another mode against mean field, fitted on annotated videos.

    Attributes
    ----------
    network : weight of the log-odds of the mean probability that the scores give to the new labels.
    colour : weight of `ColourModel.likeness`, with the colours of the other frames.
    shape : weight of the gain in overlap of aligned masks with the frame before, and with the frame after.
    saturation : largest gain in overlap that counts.
    caution : log-odds of mean field where nothing speaks for or against it.
    least : share of colours in common with the frame before, below which a new chain begins (a scene cut).
    lag : frames between a frame and the choice of its mode; None chooses at the end.
    """

    network: float = 0.45
    colour: float = 2.1
    shape: float = 8.0
    saturation: float = 0.15
    caution: float = 1.85
    least: float = 0.35
    lag: int | None = None

    def __post_init__(self) -> None:
        for name in ("network", "colour", "shape", "saturation"):
            if not 0 <= getattr(self, name) < np.inf:
                raise MixfieldError(f"{name} must be a finite number >= 0, got {getattr(self, name)}")
        if not abs(self.caution) < np.inf:
            raise MixfieldError(f"caution must be a finite number of nats, got {self.caution}")
        if not 0 <= self.least <= 1:
            raise MixfieldError(f"least must be a share of colours in 0..1, got {self.least}")
        if self.lag is not None:
            _arrays.at_least("lag", self.lag, 0)

    def mode_costs(self, network: Floats, likeness: Floats, root: int) -> Floats:
        """(K,) minus the log-odds of each mode against mean field, of network and colours alone; 0 for mean field."""
        odds = self.network * network + self.colour * likeness - self.caution
        return np.where(np.arange(len(odds)) == root, 0.0, -odds)

    def step_costs(self, gains: Floats) -> Floats:
        """(K, M) minus the log-odds that gains in overlap add."""
        return np.asarray(-self.shape * np.clip(gains, -self.saturation, self.saturation))


@dataclass(frozen=True, eq=False)
class Choice:
    """The chosen mode of a frame, and the probabilities (K,) of all its modes given the frames around it."""

    mode: int
    probabilities: Floats


@dataclass(frozen=True, eq=False)
class FrameModes:
    """What the choice needs of a frame.

    Attributes
    ----------
    shape : (H, W).
    root : index of mean field among the modes.
    network : (K,) log-odds of the scores for the changes of each mode.
    bins : (n,) colour bins.
    histograms : (L, B) of the labels of mean field.
    changes : of each mode, by colour.
    masks : of each mode, aligned.
    """

    shape: tuple[int, ...]
    root: int
    network: Floats
    bins: Ints
    histograms: NDArray[np.float32]
    changes: tuple[Change, ...]
    masks: AlignedMasks

    @staticmethod
    def of(image: ArrayLike, posterior: MixturePosterior, scores: ArrayLike | None = None) -> FrameModes:
        """From an image, its modes, and probabilities (H, W, L), by default those of the calibration."""
        if np.shape(image)[:2] != posterior.shape:
            raise MixfieldError(f"the frame must have the shape {posterior.shape} of its modes, got {np.shape(image)}")
        n_labels = posterior.modes[0].marginals.shape[-1]
        labelings = posterior.labelings()
        root = labelings[posterior.root_mode].ravel()
        bins, channels = colour_bins(image), min(3, intensities(image).shape[-1])
        return FrameModes(
            posterior.shape,
            posterior.root_mode,
            _network(posterior, labelings, scores),
            bins,
            label_histograms(bins, root, n_labels, channels),
            tuple(Change.of(bins, root, labels.ravel()) for labels in labelings),
            AlignedMasks.of(labelings, n_labels),
        )

    def likeness(self, histograms: NDArray[np.floating]) -> Floats:
        """(K,) of the change of each mode, given sums of the histograms of other frames."""
        model = ColourModel.of(histograms)
        return np.array([model.likeness(change) for change in self.changes])

    def gains(self, after: FrameModes) -> Floats:
        """(K, M) overlap with the modes of the frame after, minus that of the two mean fields."""
        overlap = self.masks.overlap(after.masks)
        return np.asarray(overlap - overlap[self.root, after.root])


def _network(posterior: MixturePosterior, labelings: Ints, scores: ArrayLike | None) -> Floats:
    """(K,) log-odds of the mean probability of the new labels, `UNKNOWN` without probabilities."""
    evidence: NDArray[np.floating]
    if scores is not None:
        height, width = posterior.shape
        evidence = probabilities(scores, (height, width))
        _arrays.check_shape("scores", evidence, posterior.modes[0].marginals.shape, "= shape of the marginals of modes")
    elif posterior.calibration is not None:
        evidence = posterior.calibration.evidence
    else:
        return np.full(len(labelings), UNKNOWN)
    return np.array([one.logit for one in change_features(evidence, labelings, posterior.root_mode, None)])


@dataclass
class ModePath:
    """Chooses the modes of a stream of frames, in constant memory if there is a lag.

    Attributes
    ----------
    consistency : the log-odds of modes.
    common : share of colours of the last frame in common with the frame before, NaN without one.
    starts : whether a chain begins at the last frame.

    Examples
    --------
    >>> import numpy as np, mixfield as mf
    >>> from mixfield.apps import Consistency, ModePath
    >>> path = ModePath(Consistency(lag=0))
    >>> path.lag
    0
    """

    consistency: Consistency = field(default_factory=Consistency)
    common: float = field(default=float("nan"), init=False)
    starts: bool = field(default=True, init=False)
    _past: NDArray[np.floating] | float = field(default=0.0, init=False, repr=False)  # histograms of decided frames
    _last: tuple[FrameModes, int] | None = field(default=None, init=False, repr=False)  # decided frame and its mode
    _open: list[FrameModes] = field(default_factory=list, init=False, repr=False)
    _gains: list[Floats] = field(default_factory=list, init=False, repr=False)  # between open frames

    @property
    def lag(self) -> int | None:
        """Frames between a frame and the choice of its mode."""
        return self.consistency.lag

    def advance(self, frame: ArrayLike, posterior: MixturePosterior, scores: ArrayLike | None = None) -> list[Choice]:
        """Add a frame; returns the choices for the frames that are decided by it, oldest first.

        Parameters
        ----------
        frame : (H, W) or (H, W, channels).
        posterior : its modes.
        scores : (H, W, L) probabilities of the network, by default those that the posterior is calibrated by; without
            both, the network has no say.
        """
        modes = FrameModes.of(frame, posterior, scores)
        before = self._open[-1] if self._open else self._last[0] if self._last else None
        self.common = float("nan") if before is None else _common(before, modes)
        self.starts = before is None or self.common < self.consistency.least
        decided = self.finish() if self.starts else []
        if self._open:
            self._gains.append(self._open[-1].gains(modes))
        self._open.append(modes)
        while self.lag is not None and len(self._open) > self.lag:
            decided.append(self._decide())
        return decided

    def finish(self) -> list[Choice]:
        """Decide the remaining frames: the stream ends, a frame is missing, or a scene is cut."""
        costs, steps = self._chain()
        probabilities = mode_probabilities(costs, steps)
        path = shortest_path(costs, steps).tolist()
        self._open, self._gains, self._last, self._past = [], [], None, 0.0
        return [Choice(mode, each) for mode, each in zip(path, probabilities, strict=True)]

    def _decide(self) -> Choice:
        """Choose the mode of the oldest open frame; later frames continue from it."""
        costs, steps = self._chain()
        mode = int(shortest_path(costs, steps)[0])
        choice = Choice(mode, mode_probabilities(costs, steps)[0])
        oldest = self._open.pop(0)
        self._gains = self._gains[1:]
        self._last, self._past = (oldest, mode), self._past + oldest.histograms
        return choice

    def _chain(self) -> tuple[list[Floats], list[Floats]]:
        """Costs of the modes of the open frames, and of the steps between them."""
        how = self.consistency
        total = sum((one.histograms for one in self._open), self._past)
        costs = [how.mode_costs(one.network, one.likeness(total - one.histograms), one.root) for one in self._open]
        if self._last is not None and self._open:
            last, mode = self._last
            costs[0] = costs[0] + how.step_costs(last.gains(self._open[0]))[mode]
        return costs, [how.step_costs(gains) for gains in self._gains]


def _common(before: FrameModes, after: FrameModes) -> float:
    """Share of colours in common of successive frames."""
    if before.shape != after.shape or before.histograms.shape != after.histograms.shape:
        was, is_now = (
            f"(H, W) = {one.shape}, {one.histograms.shape[0]} labels and {one.histograms.shape[1]} bins of colour"
            for one in (before, after)
        )
        raise MixfieldError(f"frames must be alike, got {is_now} after {was}")
    return common_colours(before.bins, after.bins)
