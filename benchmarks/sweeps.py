"""Speed of mean-field sweeps as a ratio to memory bandwidth, and growth with edges and modes.

    python benchmarks/sweeps.py [--side 1000] [--sweeps 200]

The yardstick is measured in the same run: reading every edge (two indices and its table) and reading and writing every
marginal once per sweep, with as many threads, by a compiled loop that does nothing else.  Multi-label tables and larger
factors are compared with binary pairs by the time per table entry: a sweep meets each entry once for every variable of
its table.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from numba import njit, prange

import mixfield as mf
from mixfield.energy import grid_edges
from mixfield.solvers import solver_for, starts
from mixfield.solvers.tilt import Tilt


@njit(parallel=True)
def stream(edges: np.ndarray, tables: np.ndarray, q: np.ndarray) -> float:
    """Read edges and tables, read and write the marginals."""
    total = 0.0
    for e in prange(edges.shape[0]):
        table = tables[e, 0, 0] + tables[e, 0, 1] + tables[e, 1, 0] + tables[e, 1, 1]
        total += table + edges[e, 0] + edges[e, 1]
    for i in prange(q.shape[0]):
        q[i, 0] = q[i, 0] * 0.999
        q[i, 1] = q[i, 1] * 0.999
    return total


def seconds(work: object, repeats: int = 3) -> float:
    """Median time of a call."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()  # type: ignore[operator]
        times.append(time.perf_counter() - started)
    return float(np.median(times))


def sweep_time(graph: mf.FactorGraph, n_modes: int, sweeps: int, threads: int) -> float:
    """Time of ``sweeps`` sweeps over ``n_modes`` modes."""
    rng = np.random.default_rng(0)
    q = starts.random(np.repeat(graph.allowed[None], n_modes, 0), rng)
    tilt = Tilt.shared(np.zeros_like(graph.unary), n_modes)
    solver = solver_for(graph, mf.Solver(threads=threads, tolerance=1e-30))
    return seconds(lambda: solver.solve(q, tilt, max_iterations=sweeps))


def grid(side: int) -> mf.FactorGraph:
    """A binary grid with a different coupling on every edge."""
    rng = np.random.default_rng(0)
    edges = grid_edges((side, side))
    return mf.FactorGraph.ising(rng.normal(size=(side, side)), edges, rng.normal(size=len(edges)))


def table_fields(side: int) -> dict[str, mf.FactorGraph]:
    """Fields on a grid with random tables of several kinds, the binary pairs first."""
    rng, edges = np.random.default_rng(0), grid_edges((side, side))
    index = np.arange(side * side).reshape(side, side)
    squares = np.stack([index[:-1, :-1], index[:-1, 1:], index[1:, :-1], index[1:, 1:]], -1).reshape(-1, 4).tolist()

    def factors(scopes: list[list[int]], n_labels: int) -> mf.FactorGraph:
        tables = [(tuple(scope), rng.normal(size=(n_labels,) * len(scope))) for scope in scopes]
        return mf.FactorGraph.from_factors([n_labels] * side**2, tables)

    return {
        "binary pairs": factors(edges.tolist(), 2),
        "pairs of 3 labels": factors(edges.tolist(), 3),
        "pairs of 5 labels": factors(edges.tolist(), 5),
        "pairs of 21 labels": factors(edges.tolist(), 21),
        "binary, 4-ary": factors(squares, 2),
        "3 labels, 4-ary": factors(squares, 3),
        "3 labels, 3-ary": factors([square[:3] for square in squares], 3),
    }


def entry_time(graph: mf.FactorGraph, sweeps: int = 50) -> float:
    """Processor time of a sweep per table entry and variable of its table, the least of three."""
    entries = sum(table.size * len(scope) for scope, table in graph.factors() if len(scope) > 1)
    q = starts.random(graph.allowed[None], np.random.default_rng(0))
    tilt, solver = Tilt.shared(np.zeros_like(graph.unary), 1), solver_for(graph, mf.Solver(threads=1, tolerance=1e-30))
    solver.solve(q, tilt, max_iterations=2)
    times = []
    for _ in range(3):
        started = time.process_time()
        solver.solve(q, tilt, max_iterations=sweeps)
        times.append(time.process_time() - started)
    return min(times) / sweeps / entries


def print_entry_times(side: int = 100) -> None:
    fields = table_fields(side)
    times = {name: entry_time(graph) for name, graph in fields.items()}
    least = times["binary pairs"]
    print(
        "\ntime per table entry and variable of its table, one thread (promise: at most 3 times that of binary pairs):"
    )
    for name, spent in times.items():
        print(f"  {name}: {1e9 * spent:.2f} ns, ratio {spent / least:.2f}")


def main(side: int, sweeps: int) -> None:
    threads = mf.Solver().threads
    graph = grid(side)
    edges, tables = graph.edges.astype(np.int32), graph.tables
    q = np.random.default_rng(0).random((graph.n, 2))
    sweep_time(grid(20), 1, 2, 1)
    sweep_time(grid(600), 1, 2, threads)
    stream(edges, tables, q)
    per_stream = seconds(lambda: [stream(edges, tables, q) for _ in range(10)]) / 10
    moved = edges.nbytes + tables.nbytes + 2 * q.nbytes
    total = sweep_time(graph, 1, sweeps, threads)
    print(f"{side} x {side} binary grid, {len(edges)} edges, {threads} threads")
    print(f"streaming edges and marginals: {1e3 * per_stream:.1f} ms ({moved / per_stream / 1e9:.1f} GB/s)")
    print(f"{sweeps} sweeps: {total:.2f} s, {1e3 * total / sweeps:.1f} ms per sweep")
    print(f"ratio sweeps / streaming: {total / sweeps / per_stream:.2f} (promise: at most 3)")

    print_entry_times()
    print("\ngrowth with edges (time per edge and sweep, ns):")
    for size in (50, 100, 200, 400, 800):
        field = grid(size)
        n_sweeps = max(5, 4_000_000 // field.n)
        per_edge = sweep_time(field, 1, n_sweeps, threads) / n_sweeps / len(field.edges)
        print(f"  {size} x {size}: {1e9 * per_edge:.2f}")
    print("growth with modes (13 x 13, mf.infer, s):")
    small = mf.datasets.random_ising(13, rng=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mf.infer(small, 4)
        for count in (1, 2, 4, 8, 16, 32, 64, 128):
            print(f"  {count} modes: {seconds(lambda count=count: mf.infer(small, count)):.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--side", type=int, default=1000)
    parser.add_argument("--sweeps", type=int, default=200)
    options = parser.parse_args()
    main(options.side, options.sweeps)
