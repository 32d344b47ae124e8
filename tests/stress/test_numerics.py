"""Numbers at their limits: an answer that is right, or a refusal in a sentence; never NaN."""

from __future__ import annotations

import multiprocessing
import warnings

import numpy as np
import pytest

import mixfield as mf
from mixfield.energy import grid_edges
from mixfield.errors import MixfieldError, MixfieldWarning

pytestmark = [
    pytest.mark.filterwarnings("ignore::mixfield.errors.MixfieldWarning"),
    # without the compiler Python tells of every exp that overflows and every key that wraps around in a kernel
    pytest.mark.filterwarnings(r"ignore::RuntimeWarning:mixfield\.kernels\..*"),
]

EDGES = grid_edges((2, 3))
SCALES = [1e-300, 1e-6, 1e3, 1e6, 1e30, 1e99]


def noise(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def sound(answer):
    """No NaN, probabilities that sum to one, a bound that is a number."""
    modes = getattr(answer, "modes", (answer,))
    for mode in modes:
        assert np.isfinite(mode.marginals).all()
        assert (mode.marginals >= 0).all()
        np.testing.assert_allclose(mode.marginals.sum(-1), 1, atol=1e-6)
        assert not np.isnan(mode.log_z)
        assert 0 <= mode.mass_inside <= 1 + 1e-9
    if len(modes) > 1:
        np.testing.assert_allclose(answer.weights.sum(), 1, atol=1e-9)
    return answer


def right(graph, answer):
    """A lower bound of log Z, and not far from it where one state outweighs all others."""
    states = np.ndindex(*np.asarray(graph.label_counts).reshape(graph.shape).ravel())
    truth = np.logaddexp.reduce([-graph.of(np.reshape(x, graph.shape)) for x in states])
    assert sound(answer).log_z <= truth + 1e-9 * max(1.0, abs(truth))
    assert answer.log_z >= truth - 1e-6 * abs(truth) - 9 * np.log(3)
    return answer


@pytest.mark.interpreted
@pytest.mark.parametrize("scale", SCALES)
def test_couplings(scale):
    for sign in (-1, 1):
        graph = mf.FactorGraph.ising(noise(2, 3), EDGES, sign * scale)
        right(graph, mf.infer(graph, n_modes=3))
    triple = mf.FactorGraph.from_factors([2, 2, 3], [((0, 1, 2), scale * noise(2, 2, 3))])
    right(triple, mf.infer(triple, n_modes=2))


@pytest.mark.interpreted
@pytest.mark.parametrize("scale", SCALES)
def test_unaries(scale):
    for unary in (scale * noise(2, 3, 3), np.where(noise(2, 3, 3) > 0, scale, -scale)):
        graph = mf.FactorGraph.potts_grid(unary, 1.0)
        right(graph, mf.infer(graph, n_modes=3))
        sound(mf.infer(mf.DenseCRF(unary, [mf.Gaussian(2, 3)]), n_modes=2))


@pytest.mark.interpreted
def test_exact_is_right_or_refuses():
    graph = mf.FactorGraph.ising(noise(2, 3), EDGES, 1e6)
    right(graph, mf.infer(graph, n_modes=2))
    assert np.isfinite(mf.exact(graph).marginals).all()
    with pytest.raises(MixfieldError, match="too large for exact marginals"):
        mf.exact(mf.FactorGraph.ising(noise(2, 3), EDGES, 1e30))


@pytest.mark.interpreted
@pytest.mark.parametrize("value", [1e-30, 1e-3, 1e3, 1e6, 1e30])
def test_kernels(value):
    sound(mf.infer(mf.DenseCRF(noise(5, 4, 3), [mf.Gaussian(2, value)]), n_modes=2))
    sound(mf.infer(mf.DenseCRF(noise(5, 4, 3), [mf.Gaussian(value, 3)]), n_modes=2))


@pytest.mark.interpreted
@pytest.mark.parametrize("temperature", [1e-30, 1e-12, 1e-3, 1e6, 1e30])
def test_temperatures(temperature):
    graph = mf.FactorGraph.potts_grid(noise(3, 3, 3), 1.0)
    cold = sound(mf.mean_field(graph, temperature=temperature))
    if temperature < 1e-2:
        np.testing.assert_allclose(cold.marginals.max(-1), 1)  # a local optimum of the energy
        x = cold.labeling()
        for place in np.ndindex(3, 3):
            for label in range(3):
                y = x.copy()
                y[place] = label
                assert graph.of(y) >= graph.of(x) - 1e-9
    for unary in (noise(4, 4, 3), 1e30 * noise(4, 4, 3)):
        sound(mf.mean_field(mf.DenseCRF(unary, [mf.Gaussian(2, 3)]), temperature=temperature))


@pytest.mark.interpreted
def test_hard_zeros():
    hard = np.where(noise(2, 3, 3) > 0.3, np.inf, 0.0)
    hard[..., 0] = 1.0
    graph = mf.FactorGraph.potts_grid(hard, 1e6)
    answer = right(graph, mf.infer(graph, n_modes=3))
    assert (answer.marginals()[np.isinf(hard)] == 0).all()
    dense = sound(mf.infer(mf.DenseCRF(hard, [mf.Gaussian(2, 3)]), n_modes=2))
    assert (dense.marginals()[np.isinf(hard)] == 0).all()


@pytest.mark.interpreted
def test_small_worlds():
    one = mf.FactorGraph.from_factors([3], [((0,), np.array([0.0, 1.0, 2.0]))])
    assert sound(mf.infer(one, n_modes=3)).log_z == pytest.approx(np.log(1 + np.exp(-1) + np.exp(-2)))
    for counts, factors, log_z in (
        ([1], [], 0.0),
        ([1, 1], [((0, 1), np.array([[0.5]]))], -0.5),
        ([], [], 0.0),
    ):
        graph = mf.FactorGraph.from_factors(counts, factors)
        assert sound(mf.infer(graph, n_modes=2)).log_z == pytest.approx(log_z)
    for shape in ((1, 1, 2), (3, 3, 1), (1, 7, 2)):
        sound(mf.infer(mf.DenseCRF(np.zeros(shape), [mf.Gaussian(2, 3)]), n_modes=2))


def test_a_million_labels():
    """On a variable alone, beside another, and in a table with another."""
    many = 1_000_000
    costs, pair = noise(many), noise(many, 2, seed=1)
    alone = np.logaddexp.reduce(-costs)
    one = mf.FactorGraph.from_factors([many], [((0,), costs)])
    for answer in (mf.mean_field(one), mf.infer(one, n_modes=2), mf.exact(one)):
        assert answer.log_z == pytest.approx(alone)
    answer = sound(mf.infer(one, n_modes=2))
    np.testing.assert_allclose(answer.marginals()[0], np.exp(-costs - alone), atol=1e-12)
    beside = mf.FactorGraph.from_factors([many, 2], [((0,), costs), ((1,), [0.0, 1.0])])
    assert sound(mf.mean_field(beside)).log_z == pytest.approx(alone + np.log(1 + np.exp(-1)))
    joint = mf.FactorGraph.from_factors([many, 2], [((0,), costs), ((0, 1), 0.1 * pair)])
    states = -costs[:, None] - 0.1 * pair
    truth = np.logaddexp.reduce(states, axis=None)
    assert mf.exact(joint).log_z == pytest.approx(truth)
    assert truth - 0.1 < sound(mf.mean_field(joint)).log_z <= truth
    assert joint.of([17, 1]) == pytest.approx(-states[17, 1])
    with pytest.raises(MixfieldError, match="bytes"):
        mf.FactorGraph.from_factors([1_000_000] + [2] * 2_000, [])


@pytest.mark.interpreted
@pytest.mark.parametrize(
    "make",
    [
        lambda: mf.FactorGraph.potts_grid(np.full((2, 2, 2), 1e300), 1.0),
        lambda: mf.FactorGraph.ising(np.zeros(2), [(0, 1)], 1e300),
        lambda: mf.FactorGraph.from_factors([2], [((0,), np.array([0.0, -1e200]))]),
        lambda: mf.DenseCRF(np.zeros((2, 2, 2)), [mf.Gaussian(2, 1e40)]),
        lambda: mf.DenseCRF(np.zeros((2, 2, 2)), [mf.Gaussian(1e300, 1)]),
        lambda: mf.DenseCRF(np.full((2, 2, 2), np.inf), [mf.Gaussian(2, 1)]),
        lambda: mf.FactorGraph.potts_grid(np.full((2, 2, 2), np.nan), 1.0),
        lambda: mf.FactorGraph.potts_grid(np.full((2, 2, 2), np.inf), 1.0),
        lambda: mf.mean_field(mf.FactorGraph.ising(np.zeros(2), [(0, 1)], 1.0), temperature=1e-300),
        lambda: mf.mean_field(mf.FactorGraph.ising(np.zeros(2), [(0, 1)], 1.0), temperature=0.0),
    ],
)
def test_refused(make):
    with pytest.raises(MixfieldError, match=r"must|forbids|allowed"):
        make()


VARIANTS = {
    "float32": lambda a: a.astype(np.float32),
    "big-endian": lambda a: a.astype(">f8"),
    "big-endian float32": lambda a: a.astype(">f4"),
    "strided": lambda a: np.repeat(a, 2, axis=0)[::2],
    "reversed": lambda a: a[::-1].copy()[::-1],
    "Fortran": np.asfortranarray,
    "transposed": lambda a: a.transpose(2, 0, 1).copy().transpose(1, 2, 0),
    "read-only": lambda a: (a.setflags(write=False), a)[1],
    "list": lambda a: a.tolist(),
}


@pytest.mark.parametrize("kind", VARIANTS)
def test_kinds_of_arrays(kind):
    unary = np.round(4 * noise(4, 5, 2)) / 8  # exact in float32
    for build in (lambda u: mf.FactorGraph.potts_grid(u, 1.0), lambda u: mf.DenseCRF(u, [mf.Gaussian(2, 3)])):
        plain = mf.infer(build(unary.copy()), n_modes=2)
        other = mf.infer(build(VARIANTS[kind](unary.copy())), n_modes=2)
        assert other.marginals().tobytes() == plain.marginals().tobytes()
        assert other.log_z == plain.log_z


def answer_bytes(threads=1):
    """The bytes of two answers, large enough for several threads."""
    side = 8 if _interpreted() else 160
    solver = mf.Solver(tolerance=1e-3, max_iterations=5, threads=threads)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixfieldWarning)
        dense = mf.mean_field(mf.DenseCRF(noise(side, side, 3), [mf.Gaussian(3, 3)]), solver=solver)
        graph = mf.mean_field(mf.FactorGraph.potts_grid(noise(2 * side, 2 * side, 3), 1.0), solver=solver)
    return dense.marginals.tobytes() + graph.marginals.tobytes()


def _interpreted():
    import numba

    return numba.config.DISABLE_JIT


def _send(connection):
    connection.send(answer_bytes(2))


def test_threads_give_the_same_bytes():
    assert answer_bytes(1) == answer_bytes(2) == answer_bytes(8)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_give_the_same_bytes(method):
    here = answer_bytes(2)  # also fills the pool of threads, which a fork does not take along
    context = multiprocessing.get_context(method)
    mine, theirs = context.Pipe()
    child = context.Process(target=_send, args=(theirs,))
    child.start()
    assert mine.poll(120)
    assert mine.recv() == here
    child.join()
