"""Public objects that threads may share, each with a call whose answer is known: ``SHARED[name] = (build, call)``."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
from concurrency import in_threads

import mixfield as mf
import mixfield.pydensecrf.densecrf as dcrf
from mixfield.errors import FewerModesWarning

THREADS = 8


def drop_in():
    rng = np.random.default_rng(3)
    crf = dcrf.DenseCRF2D(80, 60, 21)
    crf.setUnaryEnergy(rng.random((21, 4800)).astype(np.float32))
    crf.addPairwiseGaussian(sxy=3, compat=3)
    crf.addPairwiseBilateral(sxy=20, srgb=40, rgbim=rng.integers(0, 255, (60, 80, 3)), compat=4)
    return crf


def dense_field():
    rng = np.random.default_rng(0)
    image = rng.integers(0, 255, (30, 40, 3)).astype(np.uint8)
    return mf.DenseCRF(rng.normal(size=(30, 40, 4)), [mf.Gaussian(3.0, 1.0), mf.Bilateral(image, 20.0, 40.0, 2.0)])


def graph():
    return mf.datasets.random_ising(6, rng=1)


def walk():
    return mf.datasets.walking_people(2, 2, 1, rng=1)


def occupancy():
    return mf.Occupancy(walk().scene, list(walk().masks[0]))


def posterior():
    return mf.infer(graph(), 4)


def answer(result):
    """The numbers of a mode, or of all modes of a posterior."""
    modes = result.modes if isinstance(result, mf.MixturePosterior) else [result]
    return [(mode.marginals.tobytes(), mode.log_z) for mode in modes]


def of_posterior(shared):
    samples = shared.sample(20, rng=1)
    return samples.tobytes(), shared.marginals().tobytes(), shared.log_prob(samples).tobytes()


SHARED = {
    "drop-in object, `inference(5)`": (drop_in, lambda crf: np.array(crf.inference(5)).tobytes()),
    "`DenseCRF`, `mf.mean_field`": (dense_field, lambda field: answer(mf.mean_field(field))),
    "`DenseCRF`, `mf.infer`": (dense_field, lambda field: answer(mf.infer(field, 3))),
    "`FactorGraph`, `mf.mean_field`": (graph, lambda field: answer(mf.mean_field(field, restarts=4))),
    "`FactorGraph`, `mf.infer`": (graph, lambda field: answer(mf.infer(field, 4))),
    "`FactorGraph`, `mf.exact`": (graph, lambda field: mf.exact(field).marginals.tobytes()),
    "`Occupancy`, `mf.infer`": (occupancy, lambda field: answer(mf.infer(field, 2))),
    "`Scene`, `mf.detect`": (walk, lambda shared: answer(mf.detect(shared.scene, list(shared.masks[0]), 2))),
    "`MixturePosterior`, samples": (posterior, of_posterior),
}


def wrong_answers(name, rounds):
    """Number of calls by threads that share an object, and how many have another answer than a call alone.

    ``rounds`` is even: two rounds share an object.
    """
    build, call = SHARED[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerModesWarning)
        wanted, calls = call(build()), []
        while len(calls) < rounds * THREADS:
            shared = build()
            for _ in range(2):  # new, then with what the calls before have prepared
                calls += in_threads(partial(call, shared), THREADS)
    return len(calls), sum(found != wanted for found in calls)
