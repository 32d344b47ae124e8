"""POM's iteration against its plain-loop twin, with tilts, and the same bytes for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from rooms import naive_iteration, random_masks, random_room

import mixfield as mf
from mixfield import _threads
from mixfield.solvers import solver_for
from mixfield.solvers.tilt import CountPotential, Tilt

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize("temperature", [1.0, 2.5])
def test_the_iteration_equals_its_twin(temperature):
    rng = np.random.default_rng(3)
    scene = random_room(rng, (2, 3))
    energy = mf.Occupancy(scene, random_masks(rng, scene), damping=0.7)
    bias, start = rng.normal(size=(6, 2)), energy.start.reshape(1, 6, 2)
    solver = solver_for(energy, mf.Solver(tolerance=1e-5, max_iterations=60, threads=1))
    run = solver.solve(start, Tilt.shared(bias, 1), temperature=temperature)
    empty, made = naive_iteration(energy, bias, temperature, tolerance=1e-5, limit=60)
    assert run.iterations[0] == made
    np.testing.assert_allclose(run.q[0, :, 0], empty, atol=1e-8)


def test_counts_forbidden_labels_and_threads(monkeypatch):
    monkeypatch.setattr(_threads, "WORTH_IT", 0.0)
    scene = random_room(np.random.default_rng(4), (3, 4))
    energy = mf.Occupancy(scene, [np.zeros((14, 19))] * 2)
    bias = np.zeros((1, 12, 2))
    bias[0, 5, 1] = np.inf
    push = CountPotential(np.array([0, 1, 2]), np.ones(3, np.int64), 1, -1000.0)
    tilt = Tilt(bias, np.zeros(4, np.int32), ((push,),) * 2 + ((),) * 2)
    q = np.repeat(energy.start.reshape(1, 12, 2), 4, 0)
    one, two = (
        solver_for(energy, mf.Solver(tolerance=1e-6, max_iterations=60, threads=threads)).solve(q, tilt)
        for threads in (1, 2)
    )
    assert one.q.tobytes() == two.q.tobytes()
    assert (one.q[:, 5, 1] == 0).all()
    occupied = 1.0 - one.q[:, :3, 0].prod(1)
    assert (occupied[:2] > 0.9).all()
    assert (occupied[2:] < occupied[:2]).all()


def test_arguments_come_before_options():
    rng = np.random.default_rng(5)
    scene = random_room(rng)
    energy = mf.Occupancy(scene, random_masks(rng, scene))
    solver, tilt = solver_for(energy), Tilt.shared(np.zeros((6, 2)), 1)
    start = energy.start.reshape(1, 6, 2)
    assert solver.default_tolerance == 1e-4
    assert solver.default_iterations == 300
    assert solver.solve(start, tilt, max_iterations=3).iterations[0] == 3
    rough, fine = (solver.solve(start, tilt, tolerance=t).iterations[0] for t in (1e-1, 1e-8))
    assert rough < solver.solve(start, tilt).iterations[0] < fine
