"""Arrays of other packages at the public doors: converted, or refused by name."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import mixfield as mf
from mixfield import _arrays
from mixfield.errors import MixfieldError


class Tensor:
    """As in PyTorch: no NumPy array while it requires a gradient, is on a GPU, or has a dtype that NumPy lacks."""

    def __init__(self, values, *, requires_grad=False, device="cpu", dtype="float32"):
        self.values, self.requires_grad, self.device, self.dtype = values, requires_grad, device, dtype

    def _like(self, **changes):
        state = {"requires_grad": self.requires_grad, "device": self.device, "dtype": self.dtype}
        return Tensor(self.values, **(state | changes))

    def detach(self):
        return self._like(requires_grad=False)

    def cpu(self):
        return self._like(device="cpu")

    def float(self):
        return self._like(dtype="float32")

    def numpy(self):
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if self.device != "cpu" or self.dtype == "bfloat16":
            raise TypeError(f"can't convert {self.device} {self.dtype} tensor to numpy")
        return np.asarray(self.values)

    def __array__(self, dtype=None, copy=None):
        return self.numpy()


class DataArray:
    """As in xarray: an object with ``__array__``."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype)


class Array:
    """As in CuPy: implicit conversion is an error."""

    __module__ = "cupy"

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")


VALUES = np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    "value",
    [
        Tensor(VALUES),
        Tensor(VALUES, requires_grad=True),
        Tensor(VALUES, requires_grad=True, device="cuda:0"),
        Tensor(VALUES, dtype="bfloat16"),
        DataArray(VALUES),
        np.ma.masked_array(VALUES),
        VALUES.tolist(),
    ],
)
def test_converted(value):
    found = _arrays.as_numpy("x", value)
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, VALUES)
    np.testing.assert_array_equal(_arrays.floats("x", value), VALUES)
    np.testing.assert_array_equal(_arrays.integers("x", value, low=0, high=6), VALUES)


def test_a_numpy_array_is_not_copied():
    assert _arrays.as_numpy("x", VALUES) is VALUES


def test_dask_arrays_are_computed():
    dask_array = pytest.importorskip("dask.array")
    np.testing.assert_array_equal(_arrays.as_numpy("x", dask_array.from_array(VALUES, chunks=2)), VALUES)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.ma.masked_equal(VALUES, 4.0), r"^x is a masked array with 1 masked entries; fill them with \.filled"),
        (scipy.sparse.csr_array(VALUES), r"^x must be a dense array, got scipy\.csr_array; call its \.toarray\(\)"),
        (Array(), r"^x must be an array of numbers, got cupy\.Array: .*use `\.get\(\)`"),
        ([[1.0], [1.0, 2.0]], r"^x must be an array of numbers, got list"),
    ],
)
def test_refused_by_name(value, message):
    with pytest.raises(MixfieldError, match=message):
        _arrays.as_numpy("x", value)


def doors(wrap):
    """Calls of public functions with every array replaced by ``wrap(array)``."""
    image = np.full((6, 8), 90, np.uint8)
    probs = np.full((6, 8, 2), 0.5, np.float32)
    probs[:, :4, 0] = 0.9
    labels = np.zeros((6, 8), np.int64)
    return {
        "segment": lambda: mf.segment(wrap(image), wrap(probs), 1).labelings(),
        "label map": lambda: mf.segment(wrap(image), wrap(labels), 1, n_labels=2).labelings(),
        "DenseCRF": lambda: mf.DenseCRF(wrap(probs), [mf.Bilateral(wrap(image), 5, 5, 1.0)]).costs,
        "from_probabilities": lambda: mf.DenseCRF.from_probabilities(wrap(probs), wrap(image)).costs,
        "from_pairwise": lambda: (
            mf.FactorGraph.from_pairwise(
                wrap(np.zeros((2, 2))), wrap(np.array([[0, 1]])), wrap(np.zeros((1, 2, 2)))
            ).unary
        ),
        "ising": lambda: mf.FactorGraph.ising(wrap(np.zeros(2)), wrap(np.array([[0, 1]])), wrap(np.ones(1))).unary,
        "mean_iou": lambda: mf.metrics.mean_iou(wrap(labels), wrap(labels)),
    }


@pytest.mark.parametrize("door", doors(np.asarray))
def test_tensors_with_gradients_pass_every_door(door):
    expected = doors(np.asarray)[door]()
    found = doors(lambda array: Tensor(array, requires_grad=True))[door]()
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("door", doors(np.asarray))
def test_masked_entries_are_refused_at_every_door(door):
    with pytest.raises(MixfieldError, match="is a masked array"):
        doors(lambda array: np.ma.masked_array(array, np.ones(array.shape, bool)))[door]()


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.float64])
@pytest.mark.parametrize("side", [1, 2, 3])
def test_block_means_cut_squares_at_the_edges(side, dtype):
    values = (np.random.default_rng(0).random((7, 8)) * 250).astype(dtype)
    expected = [[values[y : y + side, x : x + side].mean() for x in range(0, 8, side)] for y in range(0, 7, side)]
    np.testing.assert_allclose(_arrays.block_means(values, side), expected, rtol=1e-14)


def test_complex_numbers_are_refused():
    with pytest.raises(MixfieldError, match="costs must hold real numbers, got dtype complex128"):
        _arrays.floats("costs", [1j, 2.0])


def test_rows_of_different_lengths_are_refused_in_one_sentence():
    with pytest.raises(MixfieldError) as caught:
        _arrays.floats("costs", [[0.0, 1.0], [1.0]])
    assert str(caught.value).count("must be an array of numbers") == 1


def test_starts_of_consecutive_parts():
    assert _arrays.starts([2, 0, 3]).tolist() == [0, 2, 2, 5]
    assert _arrays.starts([]).tolist() == [0]
    assert _arrays.starts(np.array([1], np.int32)).dtype == np.int64
