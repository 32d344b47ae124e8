"""KSP: disjoint paths equal brute force, a linear program, an assignment and a published optimum."""

from __future__ import annotations

import itertools
import time

import naive
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array, hstack, vstack

from mixfield.temporal.flow import disjoint_paths
from mixfield.temporal.graph import PathGraph
from mixfield.temporal.timegrid import Ends, Motion, unroll

pytestmark = pytest.mark.interpreted


def random_graph(rng, n, density=0.4):
    """A directed acyclic graph with random arcs, entries, exits and costs, some of them forbidden."""
    tails = [np.flatnonzero(rng.random(v) < density) for v in range(n)]
    start = np.concatenate([[0], np.cumsum([len(t) for t in tails])]).astype(np.int64)
    tail = np.concatenate(tails).astype(np.int32)
    entry = np.where(rng.random(n) < 0.4, rng.uniform(0, 1, n), np.inf)
    exit_ = np.where(rng.random(n) < 0.4, rng.uniform(0, 1, n), np.inf)
    cost = np.where(rng.random(n) < 0.1, np.inf, rng.normal(-0.2, 1.5, n))
    return PathGraph(entry, exit_, start, tail, rng.normal(0, 0.5, len(tail)), np.arange(n)), cost


def random_grid(rng, T, shape, *, radius=1, entry_cost=0.0):
    motion = Motion(shape, radius, rng.random(shape) < 0.3, entry_cost)
    grid = unroll(np.ones((T, motion.n), bool), motion, Ends.open(motion))
    return grid.graph, rng.normal(0.5, 2.0, grid.graph.n)


def flow_program(graph, node_cost):
    """Optimum of the flow as a linear program on split nodes: entries, exits, arcs, nodes."""
    n, m = graph.n, len(graph.tail)
    head = np.repeat(np.arange(n), np.diff(graph.start))

    def incidence(nodes, count):
        return coo_array((np.ones(count), (nodes, np.arange(count))), shape=(n, count))

    eye, nothing = incidence(np.arange(n), n), coo_array((n, n))
    entrance = hstack([eye, nothing, incidence(head, m), -eye])
    leaving = hstack([nothing, eye, incidence(graph.tail, m), -eye])
    costs = np.concatenate([graph.entry, graph.exit, graph.arc_cost, node_cost])
    upper = np.where(np.isfinite(costs), 1.0, 0.0)
    answer = linprog(
        np.where(np.isfinite(costs), costs, 0.0),
        A_eq=vstack([entrance, leaving]).tocsr(),
        b_eq=np.zeros(2 * n),
        bounds=np.stack([np.zeros_like(upper), upper], axis=1),
    )
    assert answer.status == 0
    return answer.fun


def check_flow(graph, node_cost, flow):
    """A flow is made of disjoint paths along arcs, from entries to exits, and costs what it says."""
    seen = []
    total = 0.0
    for path in flow.paths():
        total += graph.entry[path[0]] + graph.exit[path[-1]] + node_cost[path].sum()
        for u, v in itertools.pairwise(path):
            arcs = np.arange(graph.start[v], graph.start[v + 1])
            (arc,) = arcs[graph.tail[arcs] == u]
            total += graph.arc_cost[arc]
        seen += path.tolist()
    assert len(seen) == len(set(seen))
    assert sorted(seen) == np.flatnonzero(flow.used).tolist()
    assert total == pytest.approx(flow.cost, abs=1e-9)


def check_prices(graph, node_cost, flow, tolerance=1e-9):
    """Complementary slackness: no residual arc has a negative reduced cost."""
    price = {(v, side): flow.potential[v, side] for v in range(graph.n) for side in (0, 1)} | {"ground": 0.0}
    for x, y, cost in naive.residual_arcs(graph, node_cost, flow.arrival, flow.following):
        if cost < np.inf and price[x] < np.inf:
            assert cost + price[x] - price[y] >= -tolerance


@pytest.mark.parametrize("seed", range(40))
def test_equals_brute_force_on_random_graphs(seed):
    graph, cost = random_graph(np.random.default_rng(seed), 9)
    flow = disjoint_paths(graph, cost)
    assert flow.cost == pytest.approx(naive.disjoint_paths(graph, cost), abs=1e-9)
    check_flow(graph, cost, flow)
    check_prices(graph, cost, flow)


@pytest.mark.parametrize(("seed", "entry_cost"), [(0, 0.0), (1, 0.0), (2, 1.5), (3, 0.0)])
def test_equals_brute_force_on_small_grids(seed, entry_cost):
    graph, cost = random_grid(np.random.default_rng(seed), 3, (1, 4), entry_cost=entry_cost)
    flow = disjoint_paths(graph, cost)
    assert flow.cost == pytest.approx(naive.disjoint_paths(graph, cost), abs=1e-9)
    check_flow(graph, cost, flow)


@pytest.mark.parametrize(("seed", "radius", "entry_cost"), [(0, 1, 0.0), (1, 2, 0.0), (2, 1, 6.0)])
def test_equals_a_linear_program_on_medium_grids(seed, radius, entry_cost):
    graph, cost = random_grid(np.random.default_rng(seed), 12, (7, 8), radius=radius, entry_cost=entry_cost)
    flow = disjoint_paths(graph, cost)
    assert flow.cost == pytest.approx(flow_program(graph, cost), abs=1e-6)
    check_flow(graph, cost, flow)
    check_prices(graph, cost, flow)
    assert len(flow.paths()) > 10


# ---------------------------------------------------------------- the published graph


def read_dimacs(path):
    """A tracking graph in DIMACS text: node 1 is the source, the last one the sink, (2i, 2i + 1) a detection."""
    rows = [line.split() for line in path.read_text().splitlines()]
    (count,) = [int(row[2]) for row in rows if row[:1] == ["p"]]
    arcs = np.array([row[1:4] for row in rows if row[:1] == ["a"]], float)
    tail, head, cost = arcs[:, 0].astype(np.int64), arcs[:, 1].astype(np.int64), arcs[:, 2]
    n = (count - 2) // 2
    own = (head == tail + 1) & (tail % 2 == 0)
    begin, end = tail == 1, head == count
    node_cost, entry, exit_ = np.full((3, n), np.inf)
    node_cost[tail[own] // 2 - 1] = cost[own]
    entry[head[begin] // 2 - 1] = cost[begin]
    exit_[tail[end] // 2 - 1] = cost[end]
    move = np.flatnonzero(~(own | begin | end))
    move = move[np.argsort(head[move], kind="stable")]
    start = np.searchsorted(head[move] // 2 - 1, np.arange(n + 1)).astype(np.int64)
    arcs = (start, (tail[move] // 2 - 1).astype(np.int32), cost[move])
    return PathGraph(entry, exit_, *arcs, np.arange(len(entry))), node_cost


def test_published_tracking_graph(data):
    """40422 nodes, 98256 arcs: 470 paths and the published cost, in under a second once compiled."""
    graph, cost = read_dimacs(data / "people" / "mussp_sample" / "input_MOT_seq07_followme.txt")
    disjoint_paths(graph, cost)
    times = []
    for _ in range(3):
        started = time.process_time()
        flow = disjoint_paths(graph, cost)
        times.append(time.process_time() - started)
    assert len(flow.paths()) == 470
    assert flow.cost == pytest.approx(-122451.5500028, abs=1e-6)
    assert min(times) < 1.0
    reduced = flow.potential[:, 0] + cost - flow.potential[:, 1]
    assert reduced[~flow.used].min() >= -1e-6
    assert reduced[flow.used].max() <= 1e-6


# ---------------------------------------------------------------- odd inputs


def test_nobody_and_nowhere():
    motion = Motion((2, 2))
    grid = unroll(np.ones((3, 4), bool), motion, Ends.open(motion))
    assert disjoint_paths(grid.graph, np.ones(12)).paths() == []
    empty = unroll(np.zeros((3, 4), bool), motion, Ends.open(motion))
    assert disjoint_paths(empty.graph, np.ones(0)).cost == 0.0
    forbidden = disjoint_paths(grid.graph, np.full(12, np.inf))
    assert forbidden.cost == 0.0
    assert not forbidden.used.any()


def test_more_people_than_cells_at_a_door():
    """Two cells pay in the last frame's corner, one door cell leads there: as many paths as fit, no more."""
    motion = Motion((1, 3), 1, np.array([[True, False, False]]))
    closed = Ends(np.full(3, np.inf), np.zeros(3))
    grid = unroll(np.ones((3, 3), bool), motion, closed)
    cost = np.full((3, 3), -1.0)
    flow = disjoint_paths(grid.graph, cost.ravel())
    assert flow.cost == -6.0
    assert [path.tolist() for path in flow.paths()] == [[0, 4, 8], [3, 7], [6]]


def test_entry_cost_is_paid_by_each_track():
    motion = Motion((1, 2), 1, np.array([[True, True]]), entry_cost=2.5)
    grid = unroll(np.ones((2, 2), bool), motion, Ends.open(motion))
    flow = disjoint_paths(grid.graph, np.array([-2.0, 1.0, -2.0, -2.0]))
    assert flow.cost == -1.5
    assert len(flow.paths()) == 1
