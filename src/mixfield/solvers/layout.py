"""How the marginals of several modes of a dense field lie in memory: channels, the modes of a label side by side."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _threads, kernels
from mixfield.energy.dense_crf import DenseCRF
from mixfield.filters.buffers import BufferPool, aligned_empty, aligned_zeros, channel_width

Float32s = NDArray[np.float32]

FEW_LABELS = 6  # up to so many labels it pays to leave out the last one, which the others determine


@dataclass(frozen=True, eq=False)
class Layout:
    """Channels (n, stored * K, padded) of K modes: ``channels[i, l * K + k] = q_k,i(l)``.

    Attributes
    ----------
    crf : the field.
    n_modes : K.
    pool : where arrays come from.
    complete : store all labels, also where the last follows from the others.
    """

    crf: DenseCRF
    n_modes: int
    pool: BufferPool | None = None
    complete: bool = False

    @cached_property
    def stored(self) -> int:
        """Labels stored per mode: all, or all but the last where it follows from the others."""
        n_labels = self.crf.n_labels
        implied = self.crf.is_potts and 1 < n_labels <= FEW_LABELS and not self.complete
        return n_labels - 1 if implied else n_labels

    @property
    def used(self) -> int:
        """Channels in use, without padding."""
        return self.stored * self.n_modes

    @property
    def width(self) -> int:
        """Channels allocated per pixel."""
        return channel_width(self.used)

    def of(self, n_modes: int) -> Layout:
        """The layout of another number of modes."""
        return Layout(self.crf, n_modes, self.pool, self.complete)

    def channels(self, modes: NDArray[np.intp]) -> NDArray[np.intp]:
        """The channels of some of the modes, in the order of the layout ``of(len(modes))``."""
        return np.asarray(np.arange(self.stored)[:, None] * self.n_modes + modes).ravel()

    def zeros(self) -> Float32s:
        """Channels (n, width)."""
        return aligned_zeros(self.crf.n, self.width, pool=self.pool)

    def empty(self) -> Float32s:
        """Channels (n, width) with arbitrary values, and zeros in the padding."""
        channels = aligned_empty(self.crf.n, self.width, pool=self.pool)
        channels[:, self.used :] = 0.0
        return channels

    def by_label(self, channels: Float32s) -> Float32s:
        """The same memory as (n, stored, K)."""
        return channels[:, : self.used].reshape(self.crf.n, self.stored, self.n_modes)

    def pack(self, q: NDArray[np.floating]) -> Float32s:
        """Marginals (K, n, L) as channels."""
        channels = self.zeros()
        self.by_label(channels)[:] = q[..., : self.stored].transpose(1, 2, 0)
        return channels

    def unpack(self, channels: Float32s) -> NDArray[Any]:
        """Channels as marginals (K, n, L)."""
        q = np.empty((self.n_modes, *self.crf.costs.shape), np.float32)
        kernels.softmax.marginals(self.crf.costs, channels, self.stored, q)
        return q

    def take(self, channels: Float32s, modes: NDArray[np.intp], threads: int) -> Float32s:
        """Channels of some of the modes, in the layout ``of(len(modes))``; the same array if these are all."""
        if len(modes) == self.n_modes:
            return channels
        some, columns = self.of(len(modes)).empty(), self.channels(modes)
        copy_columns(channels, columns, some, np.arange(len(columns)), threads)
        return some

    def probabilities(
        self, channels: Float32s, mode: int, points: NDArray[np.int64], labels: NDArray[np.int64]
    ) -> NDArray[Any]:
        """(p,) probabilities of one label of each of some pixels in one of the modes."""
        found = np.empty(len(points), np.float32)
        kernels.softmax.probabilities(self.crf.costs, channels, self.stored, self.n_modes, mode, points, labels, found)
        return found

    def labelings(self, channels: Float32s, threads: int) -> NDArray[np.int32]:
        """(K, n) the most probable label of each pixel in each mode."""
        labels = np.empty((self.n_modes, self.crf.n), np.int32)

        def work(first: int, last: int) -> None:
            kernels.softmax.likeliest(self.crf.costs, channels, self.stored, self.n_modes, first, last, labels)

        _threads.split(work, self.crf.n, threads, updates=channels.size)
        return labels


def copy_columns(
    source: Float32s, columns: NDArray[np.intp], target: Float32s, places: NDArray[np.intp], threads: int
) -> None:
    """Copy columns of an array (n, C) to places among those of another."""

    def work(first: int, last: int) -> None:
        kernels.softmax.copy_columns(source, columns, first, last, target, places)

    _threads.split(work, len(source), threads, updates=len(source) * len(columns))
