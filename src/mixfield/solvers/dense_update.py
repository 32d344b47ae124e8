"""One parallel update of a dense field: what pixels hear of each other, band by band, to new probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixfield import kernels
from mixfield.energy.dense_crf import DenseCRF
from mixfield.filters.bands import Hear
from mixfield.filters.buffers import Scratch, room, space
from mixfield.filters.streaming import Flowing
from mixfield.solvers import packing

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]

FEW = 0.15  # share of moving pixels below which they are updated on their own
SAMPLED = 101  # of so many pixels one tells whether it is worth to look at all; odd, to see all columns of an image
INNER = 8  # updates of moving pixels between two of the whole field
MANY = 8  # labels from which those of a pixel are updated together
TOGETHER = 256  # modes of pixels that are updated together: contiguous numbers, whatever the number of modes

Noted = tuple[NDArray[np.int64], Float32s, Float32s]  # some pixels, what they heard, and what they were before


class Iteration:
    """One crf, some modes, and the memory to update them again and again.

    With ``watch`` the changes and the free energy are told; without, only updates are made.

    Pixels are updated band by band, while what they hear is near the processor.  Where an iteration ``flows``, a band
    is collected at once for the next update: probabilities are read and written once, in place, or not at all.
    """

    def __init__(self, crf: DenseCRF, n_modes: int, bias: Float32s, *, threads: int, watch: bool = True) -> None:
        self.crf, self.n_modes, self.bias, self.threads, self.watch = crf, n_modes, bias, threads, watch
        self.width = crf.width(n_modes)
        self.portions = crf.portions(self.width)
        self.sums, self.scratch = crf.sums(self.width, self.portions), Scratch(self.portions.largest, self.width)
        self.flowing = [sums for sums in self.sums if isinstance(sums, Flowing)]
        self.in_place = len(self.flowing) == len(self.sums)
        self.flows = self.in_place and threads <= len(self.portions.parts)
        self.collected: Float32s | None = None  # the channels that were collected when they were updated
        few = crf.channels < crf.n_labels
        silence = np.zeros(crf.n, np.float32)
        self.shared = crf.shared_support if few else (silence, silence)
        self.calm = watch  # whether few pixels are about to move
        self.moving = np.inf  # share of pixels that moved; not known
        self.sample = space(0, self.width)  # some of the pixels before the last update
        self.noted: list[Noted] = []  # pixels that moved in the last update, if somebody asked

    def start(self, cooling: Float32s) -> Float32s:
        """Channels of the modes when pixels do not hear of each other."""
        values = space(self.crf.n, self.width)
        self._begin(cooling, values)
        self.calm, self.moving = False, 1.0  # at first nearly all will move
        return values

    def forget(self) -> None:
        """What was collected may be of other values than those to come, or of these before somebody changed them."""
        self.collected = None

    def run(self, cooling: Float32s, updates: int) -> Float32s:
        """Channels after a number of updates from the `start` on; those in between are not written down."""
        if self.flows and updates:
            values = space(self.crf.n, self.width)
            self._begin(cooling, None)
            for left in reversed(range(updates)):
                self._prepare(None)
                self._update_all(None, cooling, None if left else values, collect=left > 0)
            return values
        old = self.start(cooling)
        new = old if self.in_place else room(*old.shape)
        for _ in range(updates):
            self.step(old, cooling, new)
            old, new = new, old
        return old

    def step(
        self,
        old: Float32s,
        cooling: Float32s,
        new: Float32s,
        *,
        rough: bool = False,
        alike: bool = False,
        note: float = np.inf,
    ) -> tuple[Floats, Floats]:
        """Update; returns (K, 3) support of ``old``, cost and entropy of ``new``, and (K,) the largest changes.

        Modes that are all ``alike`` are filtered as one.  ``new`` may be ``old`` if the iteration works ``in_place``:
        who changes the values then before the next step says so by `forget`.  Pixels that change by more than
        ``note`` are noted for `settle_movers`.
        """
        self.sample = old[::SAMPLED].copy()
        if not alike:
            self._prepare(old, rough=rough)
        collect = self.flows and new is old and note == np.inf
        return self._update_all(old, cooling, new, rough=rough, alike=alike, note=note, collect=collect)

    def _begin(self, cooling: Float32s, values: Float32s | None) -> None:
        """The start, written to ``values`` or only collected."""
        silence, used = np.zeros(self.crf.n, np.float32), self.n_modes * self.crf.channels

        def hear(band: int, first: int, last: int, nothing: Float32s) -> None:
            nothing[:] = 0.0
            new = nothing if values is None else values[first:last]
            new[:, used:] = 0.0
            self._update_band(silence, nothing, new, cooling, (first, last), new, watch=False)
            if self.flows:
                self._collect(band, new)

        self.portions.each_band(hear, self.scratch, self.threads, in_order=self.flows)
        self.collected = values if self.flows else None

    def _prepare(self, values: Float32s | None, *, rough: bool = False) -> None:
        """Make the sums of channels ready, or of those that were collected."""
        if values is None or values is self.collected:
            for collected in self.flowing:
                collected.finish(self.threads, rough=rough)
        else:
            for sums in self.sums:
                sums.take(values, self.threads, rough=rough)
        self.forget()

    def _collect(self, band: int, values: Float32s) -> None:
        for sums in self.flowing:
            sums.collect(self.portions.part_of[band], values, self.portions.bands[band][0])

    def _update_all(
        self,
        old: Float32s | None,
        cooling: Float32s,
        new: Float32s | None,
        *,
        rough: bool = False,
        alike: bool = False,
        note: float = np.inf,
        collect: bool,
    ) -> tuple[Floats, Floats]:
        """Update all pixels with what they hear of the sums; ``old`` that nobody knows, ``new`` that nobody wants to
        see."""
        shared, bands = self.shared[rough], self.portions.bands
        told: list[tuple[Floats, Floats]] = [(np.empty(0), np.empty(0))] * len(bands)
        noted: list[Noted | None] = [None] * len(bands)

        def update(band: int, first: int, last: int, support: Float32s) -> Float32s:
            before, after = (support if values is None else values[first:last] for values in (old, new))
            told[band] = self._update_band(shared, support, before, cooling, (first, last), after, watch=self.watch)
            return after

        def update_and_collect(band: int, first: int, last: int, support: Float32s) -> None:
            self._collect(band, update(band, first, last, support))

        def update_and_note(band: int, first: int, last: int, support: Float32s) -> None:
            assert old is not None
            with self.scratch.lent() as memory:
                was = memory[: last - first]
                was[:] = old[first:last]
                after = update(band, first, last, support)
                moved = kernels.softmax.movers(was, after, np.float32(note))
                noted[band] = moved + first, support[moved], was[moved]

        hear: Hear = update_and_collect if collect else update_and_note if note < np.inf else update
        if alike and old is not None:
            self._listen_as_one(old, hear, rough=rough, in_order=collect)
        else:
            self.crf.listen(self.sums, self.portions, self.scratch, self.n_modes, self.threads, hear, in_order=collect)
        self.collected = new if collect else None
        self.noted = [one for one in noted if one is not None]
        sums, change = zip(*told, strict=True)
        return np.sum(sums, axis=0), np.max(change, axis=0) if self.watch else np.full(self.n_modes, np.inf)

    def _update_band(
        self,
        shared: Float32s,
        support: Float32s,
        old: Float32s,
        cooling: Float32s,
        pixels: tuple[int, int],
        new: Float32s,
        *,
        watch: bool,
    ) -> tuple[Floats, Floats]:
        crf = self.crf
        return _update(crf.costs, self.bias, shared, support, old, crf.channels, cooling, pixels, new, watch=watch)

    def _listen_as_one(self, old: Float32s, hear: Hear, *, rough: bool, in_order: bool) -> None:
        """`DenseCRF.listen` for modes that are all alike."""
        crf, n_modes, used = self.crf, self.n_modes, self.n_modes * self.crf.channels
        first_mode = packing.columns(crf, old, n_modes, np.zeros(1, np.intp))
        ones = crf.sums(first_mode.shape[1], self.portions)
        for sums in ones:
            sums.take(first_mode, self.threads, rough=rough)

        def hear_all(band: int, first: int, last: int, one: Float32s) -> None:
            with self.scratch.lent() as memory:
                every = memory[: last - first]
                every[:, used:] = 0.0
                every[:, :used] = np.repeat(one[:, : crf.channels], n_modes, axis=1)
                hear(band, first, last, every)

        scratch = Scratch(self.portions.largest, first_mode.shape[1])
        crf.listen(ones, self.portions, scratch, 1, self.threads, hear_all, in_order=in_order)

    def settle_movers(
        self, cooling: Float32s, values: Float32s, threshold: float, *, rough: bool, most: int
    ) -> tuple[Floats, int]:
        """After a `step` to ``values``, go on with the pixels that were noted, in place, the others standing still.

        Returns (K, 2), how much the cost and the entropy rise by that, and the updates made, at ``most``.
        """
        sample = values[::SAMPLED].copy()
        share = len(kernels.softmax.movers(self.sample, sample, np.float32(threshold))) / len(sample)
        self.calm = share * min(1.0, share / self.moving) <= 2 * FEW  # to be expected next time
        self.moving = max(share, 1e-9)
        count = sum(len(moved) for moved, *_ in self.noted)
        if not 0 < count <= FEW * self.crf.n or most <= 0:
            return np.zeros((self.n_modes, 2)), 0
        movers, base, origin = (np.concatenate(parts) for parts in zip(*self.noted, strict=True))
        heard = self.crf.region(movers, self.n_modes, self.threads)
        here = first = values[movers]
        costs, bias, shared = self.crf.costs[movers], self.bias[movers], self.shared[rough][movers]
        made = 0
        while made < min(INNER, most):
            made += 1
            support, better = base + heard(here - origin), np.zeros_like(here)
            _, change = _update(
                costs, bias, shared, support, here, self.crf.channels, cooling, (0, len(movers)), better
            )
            here = better
            if change.max() < threshold:
                break
        values[movers] = here
        return self._terms(movers, here) - self._terms(movers, first), made

    def _terms(self, points: NDArray[np.int64], values: Float32s) -> Floats:
        """(K, 2) cost, bias included, and entropy of some pixels with probabilities ``values`` (p, C)."""
        crf, silence, seen = self.crf, np.zeros(len(points), np.float32), _columns(3, self.n_modes)
        costs, bias, zero = crf.costs[points], self.bias[points], np.int64(0)
        kernels.softmax.bound_terms(
            costs, bias, silence, values, values, crf.channels, self.n_modes, zero, len(points), seen
        )
        _, cost, information = _folded(seen, self.n_modes)
        return np.stack([cost, -information], 1)

    def bounds(self, values: Float32s, *, untouched: bool = False) -> Floats:
        """(K,) H - E without bias, in float64; of ``values`` that are ``untouched`` since they were updated, or of
        any."""
        crf, rough = self.crf, all(coupling.balanced for coupling in self.crf.couplings)
        if not untouched:
            self.forget()
        nothing, terms = packing.no_bias(crf), np.zeros((len(self.portions.bands), 3, self.n_modes))

        def hear(band: int, first: int, last: int, support: Float32s) -> None:
            q = values[first:last]
            if _by_rows(crf.costs, nothing, self.n_modes, crf.channels):
                end = min(last, crf.n - 1)  # rows of costs are read a little beyond their end
                kernels.pixel_rows.bound_terms(crf.costs, support, q, first, end, terms[band, :, 0])
                support, q, first = support[end - first :], q[end - first :], end
            if first < last:
                seen = _columns(3, self.n_modes)
                kernels.softmax.bound_terms(
                    crf.costs,
                    nothing,
                    self.shared[rough],
                    support,
                    q,
                    crf.channels,
                    self.n_modes,
                    first,
                    last,
                    seen,
                )
                terms[band] += _folded(seen, self.n_modes)

        # one order of the directions is enough where both give the same quadratic form
        self._prepare(values, rough=rough)
        crf.listen(self.sums, self.portions, self.scratch, self.n_modes, self.threads, hear)
        support, cost, information = terms.sum(0)
        return np.asarray(0.5 * support - cost - information) - float(crf.least.sum())


def _update(
    costs: Float32s,
    bias: Float32s,
    shared: Float32s,
    support: Float32s,
    old: Float32s,
    channels: int,
    cooling: Float32s,
    pixels: tuple[int, int],
    new: Float32s,
    *,
    watch: bool = True,
) -> tuple[Floats, Floats]:
    """One update of some pixels: (K, 3) support of ``old``, cost and entropy of ``new``, and (K,) largest changes.

    ``support``, ``old`` and ``new`` are those of these pixels alone.
    """
    n_modes, sums, change, (first, last) = len(cooling), np.zeros((3, len(cooling))), np.zeros(len(cooling)), pixels
    if _by_rows(costs, bias, n_modes, channels):
        end = min(last, len(costs) - 1)  # rows of costs are read a little beyond their end
        kernels.pixel_rows.update(costs, support, old, cooling[0], watch, first, end, new, sums.reshape(-1), change)
        support, old, new, first = support[end - first :], old[end - first :], new[end - first :], end
    if first < last:
        seen, (moved,) = _columns(3, n_modes), _columns(1, n_modes).astype(np.float32)
        kernels.softmax.update(
            costs, bias, shared, support, old, channels, cooling, watch, first, last, new, seen, moved
        )
        sums += _folded(seen, n_modes)
        change = np.maximum(change, moved.reshape(-1, n_modes).max(0))
    return sums.T, change


def _by_rows(costs: Float32s, bias: Float32s, n_modes: int, channels: int) -> bool:
    """Whether the labels of a pixel are so many that they are treated together, instead of those of many pixels."""
    return n_modes == 1 and bias.shape[1] == 0 and MANY <= costs.shape[1] == channels


def _columns(terms: int, n_modes: int) -> Floats:
    """Room for sums (terms, s * K), one column for each of the modes of the s pixels that kernels treat together.

    Kernels take eight columns at a time, so that s is a multiple of eight.
    """
    return np.zeros((terms, max(1, TOGETHER // (8 * n_modes)) * 8 * n_modes))


def _folded(seen: Floats, n_modes: int) -> Floats:
    """(terms, K) sums of all columns of each mode."""
    return np.asarray(seen.reshape(len(seen), -1, n_modes).sum(1))
