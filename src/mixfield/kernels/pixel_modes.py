"""The softmax of dense fields, vectorised over pairs of a pixel and a mode: the inner loops of `softmax`.

Eight pairs share a register.  The numbers of a pixel are stored label after label, the modes of a label side by side;
`pair_offsets` gives where those of a pair begin.  Where the number of modes is a
multiple of eight or of four, neighbouring pairs are loaded together.  All arrays are flat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mixfield.kernels.constants import FAR, FORBIDDEN, LANES
from mixfield.kernels.jit import Int32s, Integer, jit
from mixfield.kernels.simd import (
    Array,
    Condition,
    Index,
    Variable,
    Vector,
    absolute,
    branch,
    broadcast,
    concatenate,
    equal,
    exp,
    first_lanes,
    lanes_of,
    log,
    loop,
    maximum,
    multiply_add,
    select,
    simd_function,
    when,
)

VALUES, COSTS, BIAS, PIXELS = range(4)  # rows of the offsets
SLOTS = LOGIT, SUPPORT, OLD, NEW = range(4)  # vectors kept for each label


@jit()
def pair_offsets(n_modes: Integer, channels: Integer, n_labels: Integer, count: Integer, out: Int32s) -> None:
    """Fill ``out`` (4, width) with where the pairs of ``count`` pixels begin, relative to the first of the pixels.

    Rows: in values (n, C), costs (n, L), bias (n, L * K) and arrays (n,).  Pairs beyond the last pixel repeat others of
    the same register.
    """
    size = count * n_modes
    rest = size % LANES
    for c in range(out.shape[1]):
        pair = c if c < size else size - rest + (c % LANES) % rest if rest else 0
        p, k = pair // n_modes, pair % n_modes
        out[VALUES, c] = p * channels + k
        out[COSTS, c] = p * n_labels
        out[BIAS, c] = p * n_labels * n_modes + k
        out[PIXELS, c] = p


@dataclass(frozen=True)
class Pairs:
    """Eight pairs from ``first`` on, ``contiguous`` of them side by side in memory."""

    offsets: Array
    width: Index
    first: Index
    contiguous: int

    def _places(self, start: Index, row: int) -> Iterator[Index]:
        """Where in an array each run of contiguous pairs begins."""
        for lane in range(0, LANES, self.contiguous):
            yield start + self.offsets.integer(self.width * row + self.first + lane)

    def load(self, array: Array, start: Index, row: int = VALUES) -> Vector:
        """A number of each pair."""
        return concatenate([array.load(place, self.contiguous) for place in self._places(start, row)])

    def load_shared(self, array: Array, start: Index, row: int) -> Vector:
        """A number of each pixel, the same for all its modes."""
        numbers = [array.number(place) for place in self._places(start, row)]
        return concatenate([broadcast(number, self.contiguous) for number in numbers])

    def store(self, array: Array, start: Index, vector: Vector) -> None:
        """Write a number of each pair."""
        for k, place in enumerate(self._places(start, VALUES)):
            array.store(place, lanes_of(vector, k * self.contiguous, self.contiguous))


@dataclass(frozen=True)
class Inputs:
    """Arrays of `softmax.update`, and where in them the numbers of the first pixel begin.

    Attributes
    ----------
    support, at : support of the first ``stored`` labels.
    costs, costs_at : unary costs.
    bias, bias_at : additional costs of each mode; ``bias_at`` is -1 without them.
    total_support, pixel : sum of the support of all labels.
    """

    support: Array
    at: Index
    costs: Array
    costs_at: Index
    bias: Array
    bias_at: Index
    total_support: Array
    pixel: Index
    n_labels: Index
    stored: Index
    n_modes: Index

    def for_each_label(self, pairs: Pairs, values: Array, visit: Callable[[Index, Vector, Vector], None]) -> None:
        """Call ``visit(label, support, probability)``; the probabilities are those of ``values``."""
        support_sum, value_sum = Variable(values.constant(0.0)), Variable(values.constant(0.0))
        for label in loop(0, self.stored):
            support = pairs.load(self.support, self.at + label * self.n_modes)
            value = pairs.load(values, self.at + label * self.n_modes)
            support_sum.value, value_sum.value = support_sum.value + support, value_sum.value + value
            visit(label, support, value)
        for _ in when(self.stored < self.n_labels):  # the last label has the rest
            rest = pairs.load_shared(self.total_support, self.pixel, PIXELS) - support_sum.value
            visit(self.stored, rest, 1.0 - value_sum.value)

    def cost(self, pairs: Pairs, label: Index) -> Vector:
        """Unary costs of a label."""
        return pairs.load_shared(self.costs, self.costs_at + label, COSTS)

    def extra_cost(self, pairs: Pairs, label: Index) -> Vector:
        """Costs of a label that each mode has for itself."""
        return pairs.load(self.bias, self.bias_at + label * self.n_modes, BIAS)


def _slot(label: Index, number: int) -> Index:
    """Where in the work array a vector of a label is kept."""
    return label * (len(SLOTS) * LANES) + number * LANES


def _update(
    support: Array, at: Index, costs: Array, costs_at: Index, bias: Array, bias_at: Index, total_support: Array,
    pixel: Index, old: Array, new: Array, offsets: Array, width: Index, first: Index, size: Index,
    n_labels: Index, stored: Index, n_modes: Index, betas: Array, monitor: Condition, work: Array,
    terms: Array, changes: Array,
) -> None:  # fmt: skip
    """One update of eight pairs: new = softmax((support - costs - bias) beta), beta = 1 / T.

    ``work`` holds the ``SLOTS`` of each label; ``terms`` (3, width) and ``changes`` (width,) are those of
    `softmax.update`.  Pairs from ``size`` on are repetitions, which do not count.
    """
    inputs = Inputs(support, at, costs, costs_at, bias, bias_at, total_support, pixel, n_labels, stored, n_modes)

    def emit(contiguous: int) -> None:
        pairs = Pairs(offsets, width, first, contiguous)
        top = _logits(inputs, pairs, old, work)
        beta = betas.load(first)
        total = Variable(work.constant(0.0))
        for label in loop(0, n_labels):
            logit = (work.load(_slot(label, LOGIT)) - top.value) * beta
            odds = exp(logit)
            work.store(_slot(label, LOGIT), logit)
            work.store(_slot(label, NEW), odds)
            total.value = total.value + odds
        inverse = 1.0 / total.value
        for label in loop(0, stored):
            pairs.store(new, at + label * n_modes, work.load(_slot(label, NEW)) * inverse)
        for _ in when(monitor):
            sums, change = _measured(n_labels, work, beta, top.value, total.value, inverse)
            counted = first_lanes(size - first)
            for number, value in enumerate(sums):
                terms.add_float64(width * number + first, select(counted, value, 0.0))
            changes.store(first, maximum(changes.load(first), select(counted, change, 0.0)))

    _for_each_layout(n_modes, emit)


def _logits(inputs: Inputs, pairs: Pairs, old: Array, work: Array) -> Variable:
    """Fill the slots of logits (support - costs - bias), support and old probability; returns the largest logit."""
    top = Variable(work.constant(FAR))

    def visit(label: Index, support: Vector, before: Vector) -> None:
        logit = Variable(support - inputs.cost(pairs, label))
        for _ in when(inputs.bias_at > -1):
            logit.value = logit.value - inputs.extra_cost(pairs, label)
        top.value = maximum(top.value, logit.value)
        for number, value in ((LOGIT, logit.value), (SUPPORT, support), (OLD, before)):
            work.store(_slot(label, number), value)

    inputs.for_each_label(pairs, old, visit)
    return top


def _measured(
    n_labels: Index, work: Array, beta: Vector, top: Vector, total: Vector, inverse: Vector
) -> tuple[tuple[Vector, Vector, Vector], Vector]:
    """Support of the old probabilities, cost and entropy of the new ones; and the largest change."""
    old_support, new_support, mean_logit, change = (Variable(work.constant(0.0)) for _ in range(4))
    for label in loop(0, n_labels):
        logit, support, before, odds = (work.load(_slot(label, number)) for number in SLOTS)
        q = odds * inverse
        old_support.value = multiply_add(before, support, old_support.value)
        new_support.value = multiply_add(q, support, new_support.value)
        mean_logit.value = multiply_add(q, logit, mean_logit.value)
        change.value = maximum(change.value, absolute(q - before))
    # logit = (support - cost - top) / T: its mean gives the entropy, and the mean cost without another sum
    cost = new_support.value - mean_logit.value / beta - top
    entropy = log(total) - mean_logit.value
    return (old_support.value, cost, entropy), change.value


def _add_bound_terms(
    support: Array, at: Index, costs: Array, costs_at: Index, bias: Array, bias_at: Index, total_support: Array,
    pixel: Index, values: Array, offsets: Array, width: Index, first: Index, size: Index,
    n_labels: Index, stored: Index, n_modes: Index, terms: Array,
) -> None:  # fmt: skip
    """Add support, cost and minus the entropy of eight pairs to ``terms`` (3, width)."""
    inputs = Inputs(support, at, costs, costs_at, bias, bias_at, total_support, pixel, n_labels, stored, n_modes)

    def emit(contiguous: int) -> None:
        pairs = Pairs(offsets, width, first, contiguous)
        sums = [Variable(values.constant(0.0)) for _ in range(3)]

        def visit(label: Index, support: Vector, q: Vector) -> None:
            cost = Variable(inputs.cost(pairs, label))
            for _ in when(bias_at > -1):
                cost.value = cost.value + inputs.extra_cost(pairs, label)
            # forbidden labels do not count: the rest that the last label gets may be a rounding error
            q = select((q > 0.0) & (cost.value < float(FORBIDDEN)), q, 0.0)
            for total, value in zip(sums, (support, cost.value, log(q)), strict=True):
                total.value = multiply_add(q, value, total.value)

        inputs.for_each_label(pairs, values, visit)
        counted = first_lanes(size - first)
        for number, total in enumerate(sums):
            terms.add_float64(width * number + first, select(counted, total.value, 0.0))

    _for_each_layout(n_modes, emit)


def _for_each_layout(n_modes: Index, emit: Callable[[int], None]) -> None:
    """Code for numbers of modes that are multiples of eight, of four, and for all others."""
    branch(
        equal(n_modes & 7, 0), lambda: emit(8), lambda: branch(equal(n_modes & 3, 0), lambda: emit(4), lambda: emit(1))
    )


update = simd_function(_update)
add_bound_terms = simd_function(_add_bound_terms)
