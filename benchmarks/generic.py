"""Accuracy against time on UAI-2014 models: mixfield, pygms, pyAgrum, restarts and a tempered Gibbs sampler.

    pip install pygms pyagrum
    python benchmarks/generic.py [--data ../shared/data] [--out docs/reproduction] [--work generic-runs]

All methods in one process, each on one thread, processor time.  Reading the file is not counted; compiling is done
before.  Errors: |log Z~ - log Z| in nats, and the mean over variables of the total variation between their marginals
and the exact ones.  One file per model is kept in the work folder: a stopped run goes on there.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.special import logsumexp, softmax

import mixfield as mf
from experiments.claims import Claim, table, verdict
from experiments.measured import Measured, items, kept
from experiments.provenance import provenance
from mixfield import batch
from mixfield.baselines.restarts import reading_order
from mixfield.energy.base import allowed_labels
from mixfield.io import uai
from mixfield.reports.curves import Curve, Mark, Panel, write_curves
from mixfield.solvers import starts
from mixfield.solvers.factor_graph import gibbs_sweeps, soft_penalty

# without evidence, at most 300 variables: pygms takes seconds, not hours
MODELS = ["Grids_11", "Grids_13", "Segmentation_11", "Segmentation_13", "Segmentation_15"]
MODELS += ["DBN_11", "DBN_13", "DBN_15", "CSP_11", "CSP_12", "ObjectDetection_11"]
SOLVER = mf.Solver(threads=1)
CHAINS = 32
EXACT = ("pyAgrum, exact marginals", "mixfield, exact")
NAMES = {  # in the order of the table; True where a method returns modes
    "mixfield": True,
    "mean field, restarts": True,
    "pygms mean field": True,
    "pygms BP": False,
    "pygms bound (WMB)": False,
    "tempered Gibbs (AIS)": False,
    "pyAgrum, exact marginals": False,
    "mixfield, exact": False,
}

Answer = tuple[float | None, list[np.ndarray] | None]


def answers(path: Path) -> Iterator[tuple[str, str, Callable[[], Answer]]]:
    """Every method with every setting: name, setting, and the call that is timed."""
    graph = mf.read_uai(path)
    for modes in (1, 4, 16, 64):
        yield "mixfield", f"{modes} modes", lambda k=modes: _mixture(graph, k)
    for count in (1, 30, 300):
        yield "mean field, restarts", f"{count} starts", lambda k=count: _restarts(graph, k)
    for sweeps in (100, 1000):
        yield "tempered Gibbs (AIS)", f"{sweeps} temperatures", lambda k=sweeps: annealed_sampling(graph, k)
    yield "mixfield, exact", "junction tree", lambda: _exact(graph)
    yield from _pyagrum(graph)
    yield from _pygms(path)


def _mixture(graph: mf.FactorGraph, modes: int) -> Answer:
    posterior = mf.infer(graph, modes, solver=SOLVER)
    return posterior.log_z, list(posterior.marginals().reshape(graph.n, -1))


def _restarts(graph: mf.FactorGraph, count: int) -> Answer:
    mode = mf.mean_field(reading_order(graph), restarts=count, solver=SOLVER)
    return mode.log_z, list(mode.marginals.reshape(graph.n, -1))


def _exact(graph: mf.FactorGraph) -> Answer:
    found = mf.exact(graph)
    return found.log_z, list(found.marginals.reshape(graph.n, -1))


def annealed_sampling(graph: mf.FactorGraph, sweeps: int, *, chains: int = CHAINS, seed: int = 0) -> Answer:
    """Annealed importance sampling (Neal 2001) by Gibbs sweeps, then half as many sweeps at T = 1 for the marginals."""
    rng = np.random.default_rng(seed)
    soft = graph.softened(soft_penalty(graph)) if graph.has_hard_factors else graph
    allowed = allowed_labels(graph)
    bias = np.where(allowed, 0.0, np.inf)
    x = starts.labels(np.repeat(allowed[None], chains, 0), rng)

    def move(x: np.ndarray, beta: float) -> np.ndarray:
        seeds = rng.integers(0, 2**63, chains, dtype=np.uint64)
        labelings = starts.one_hot(x, graph.n_labels)
        return gibbs_sweeps(graph, labelings, bias, np.array([1.0 / beta]), seeds, threads=1).argmax(-1)

    log_weight = np.full(chains, np.log(allowed.sum(1)).sum())
    betas = np.linspace(0.0, 1.0, sweeps + 1) ** 2
    for before, beta in pairwise(betas.tolist()):
        log_weight -= (beta - before) * soft.of(x.reshape(chains, *graph.shape))
        x = move(x, beta)
    feasible = np.isfinite(graph.of(x.reshape(chains, *graph.shape)))
    log_weight = np.where(feasible, log_weight, -np.inf)
    if not feasible.any():
        return -np.inf, None
    total = np.zeros((chains, graph.n, graph.n_labels))
    for _ in range(max(1, sweeps // 2)):
        x = move(x, 1.0)
        total += starts.one_hot(x, graph.n_labels)
    marginals = np.tensordot(softmax(log_weight), total / total[0, 0].sum(), 1)
    return float(logsumexp(log_weight) - np.log(chains)), list(marginals)


def _pygms(path: Path) -> Iterator[tuple[str, str, Callable[[], Answer]]]:
    import pygms
    from pygms import messagepass, wmb

    def tables(beliefs: list) -> list[np.ndarray]:
        return [np.asarray(belief.table, np.float64) for belief in beliefs]

    def field(given: pygms.GraphModel, sweeps: int) -> Answer:
        log_z, beliefs = messagepass.NMF(given, maxIter=sweeps)
        return float(log_z), tables(beliefs)

    def propagation(given: pygms.GraphModel, sweeps: int) -> Answer:
        log_z, beliefs = messagepass.LBP(given, maxIter=sweeps)
        return float(log_z), tables(beliefs)

    def bound(given: pygms.GraphModel, i_bound: int, passes: int = 3) -> Answer:
        buckets = wmb.WMB(given, elimOrder="minfill", iBound=i_bound)
        for _ in range(passes):
            log_z = buckets.msgForward(1.0, 0.1)
            buckets.msgBackward(1.0, 0.1)
        return float(log_z), None

    given = pygms.GraphModel(pygms.readUai(str(path)))  # none of them changes it
    for sweeps in (1, 5, 20):
        yield "pygms mean field", f"{sweeps} sweeps", lambda m=given, k=sweeps: field(m, k)
    for sweeps in (2, 10):
        yield "pygms BP", f"{sweeps} sweeps", lambda m=given, k=sweeps: propagation(m, k)
    for i_bound in (4, 10):
        yield "pygms bound (WMB)", f"i-bound {i_bound}", lambda m=given, k=i_bound: bound(m, k)


def _pyagrum(graph: mf.FactorGraph) -> Iterator[tuple[str, str, Callable[[], Answer]]]:
    import pyagrum

    pyagrum.setNumberOfThreads(1)
    field = (
        pyagrum.MarkovRandomField()
    )  # its reader of UAI files (3.3.1) lets the first variable of a table run fastest
    for i, count in enumerate(graph.label_counts.tolist()):
        field.add(pyagrum.RangeVariable(str(i), "", 0, count - 1))
    for scope, costs in graph.factors():
        if scope:
            factor = field.addFactor([int(i) for i in scope])
            axes = [scope.index(int(v.name())) for v in reversed(factor.variablesSequence())]
            factor[:] = np.ascontiguousarray(np.transpose(np.exp(costs.min() - costs), axes))

    def marginals() -> Answer:
        inference = pyagrum.ShaferShenoyMRFInference(field)
        inference.makeInference()
        return None, [inference.posterior(str(k)).toarray() for k in range(field.size())]

    yield "pyAgrum, exact marginals", "Shafer-Shenoy", marginals


def measure(path: Path) -> dict[str, object]:
    """Errors and processor seconds of every method on one model."""
    log_z, truth = uai.read_pr(f"{path}.PR"), uai.read_mar(f"{path}.MAR")
    rows = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for method, setting, call in answers(path):
            started = time.process_time()
            try:
                found, marginals = call()
            except Exception as error:  # a peer that gives up is a result
                found, marginals = None, None
                print(f"  {path.stem}: {method}, {setting}: {type(error).__name__}: {error}")
            seconds = time.process_time() - started
            rows.append(
                {
                    "method": method,
                    "setting": setting,
                    "seconds": round(seconds, 5),
                    "log_z_error": _finite(None if found is None else abs(found - log_z)),
                    "marginal_error": _finite(None if marginals is None else _distance(marginals, truth)),
                }
            )
    return {"model": path.stem, "variables": len(truth), "log_z": log_z, "rows": rows}


def _distance(found: list[np.ndarray], truth: list[np.ndarray]) -> float:
    """Mean total variation."""
    pairs = zip(found, truth, strict=True)
    return float(np.mean([0.5 * np.abs(np.asarray(f)[: len(t)] - t).sum() for f, t in pairs]))


def _finite(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), 6)


def compile_kernels() -> None:
    """Load every kernel before the clock starts."""
    small = mf.FactorGraph.from_factors([2, 3, 2], [((0, 1, 2), np.ones((2, 3, 2))), ((0, 1), np.ones((2, 3)))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mf.errors.MixfieldWarning)
        for graph in (mf.datasets.random_ising(3), small):
            _mixture(graph, 2), _restarts(graph, 2), _exact(graph), annealed_sampling(graph, 3)


# ------------------------------------------------------------------ the page


def medians(results: list[dict], measure_: str) -> dict[str, list[dict]]:
    """Median seconds and error of every method and setting over the models; a failure counts as infinite error."""
    found: dict[str, list[dict]] = {name: [] for name in NAMES}
    settings = dict.fromkeys((row["method"], row["setting"]) for result in results for row in result["rows"])
    for method, setting in settings:
        rows = [r for res in results for r in res["rows"] if (r["method"], r["setting"]) == (method, setting)]
        error = float(np.median([np.inf if r[measure_] is None else r[measure_] for r in rows]))
        if np.isfinite(error):
            seconds = float(np.median([r["seconds"] for r in rows]))
            found[method].append({"setting": setting, "seconds": seconds, "error": max(error, 1e-6)})
    return {name: sorted(points, key=lambda p: p["seconds"]) for name, points in found.items() if points}


def catch_up(result: dict) -> dict[str, object]:
    """pygms' best mean field, and the cheapest of our answers that is at least as close to log Z."""
    rows = [r for r in result["rows"] if r["log_z_error"] is not None]
    theirs = [r for r in rows if r["method"] == "pygms mean field"]
    best = min(theirs, key=lambda r: (r["log_z_error"], r["seconds"]), default=None)
    ours = _as_close(result, np.inf if best is None else best["log_z_error"])
    return {"model": result["model"], "theirs": best, "ours": min(ours, key=lambda r: r["seconds"], default=None)}


def _as_close(result: dict, error: float) -> list[dict]:
    """Our answers with at most this error of log Z."""
    rows = [r for r in result["rows"] if r["method"] in ("mixfield", "mean field, restarts")]
    return [r for r in rows if r["log_z_error"] is not None and r["log_z_error"] <= error + 1e-3]


def claims(results: list[dict]) -> list[Claim]:
    tests: dict[str, Callable[[dict], bool]] = {
        "closest to log Z among the methods that return modes": lambda r: _is_closest(r, "log_z_error"),
        "closest to the marginals among the methods that return modes": lambda r: _is_closest(r, "marginal_error"),
        "never slower than pygms' mean field at equal error of log Z": _is_never_slower,
        "on the Pareto front of the methods that return modes": _is_on_the_front,
        "closer to log Z than the tempered Gibbs sampler, which returns none": _beats_ais,
    }
    return [_claim(said, [r["model"] for r in results if not holds(r)], len(results)) for said, holds in tests.items()]


def _claim(said: str, exceptions: list[str], total: int) -> Claim:
    part = total - len(exceptions)
    but = f", not on {', '.join(exceptions)}" if exceptions else ""
    return Claim(said, f"on {part} of {total} models{but}", verdict(part, total))


def _is_closest(result: dict, key: str) -> bool:
    best = {name: min(_known(result, name, key), default=np.inf) for name, modes in NAMES.items() if modes}
    return best["mixfield"] <= min(best.values()) + 1e-4


def _is_never_slower(result: dict) -> bool:
    """For each answer of pygms' mean field, one of ours is at least as close in no more time; where pygms gives no
    answer, everybody is faster."""
    theirs = [r for r in result["rows"] if r["method"] == "pygms mean field" and r["log_z_error"] is not None]
    return all(any(o["seconds"] <= t["seconds"] for o in _as_close(result, t["log_z_error"])) for t in theirs)


def _is_on_the_front(result: dict) -> bool:
    """None of our answers is beaten in both time and error by another method that returns modes."""
    rows = [r for r in result["rows"] if NAMES[r["method"]] and r["log_z_error"] is not None]
    ours, others = ([r for r in rows if (r["method"] == "mixfield") is is_ours] for is_ours in (True, False))
    return not any(
        o["seconds"] < r["seconds"] and o["log_z_error"] < r["log_z_error"] - 1e-4 for r in ours for o in others
    )


def _beats_ais(result: dict) -> bool:
    ours, theirs = (_known(result, name, "log_z_error") for name in ("mixfield", "tempered Gibbs (AIS)"))
    return min(ours) <= min(theirs, default=np.inf)


def write_page(results: list[dict], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    peers = {name: version(name) for name in ("pygms", "pyagrum")}
    about = provenance("python benchmarks/generic.py", seeds="0", peers=peers)
    found = claims(results)
    everything = {"made_by": about, "claims": [asdict(c) for c in found], "models": results}
    (out / "generic.json").write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")
    for ending in ("svg", "png"):
        write_curves(out / f"generic.{ending}", _panels(results), shared_legend=True, size=(6.0, 4.6))
    (out / "generic.md").write_text("\n".join(_page(results, found, about)) + "\n", encoding="utf-8")


COLOURS = dict(
    zip(NAMES, ("#d1495b", "#edae49", "#8d96a3", "#00798c", "#3b3b58", "#7a9e3f", "#9c6ade", "#c97b63"), strict=True)
)


def _panels(results: list[dict]) -> list[Panel]:
    panels = []
    for key, title in (("log_z_error", "error of log Z (nats)"), ("marginal_error", "error of the marginals")):
        found = medians(results, key)
        curves = [
            Curve(
                name,
                [p["seconds"] for p in points],
                [p["error"] for p in points],
                (),
                COLOURS[name],
                marker="o" if NAMES[name] else "s",
            )
            for name, points in found.items()
            if name not in EXACT
        ]
        marks = [Mark(name, found[name][0]["seconds"], COLOURS[name]) for name in EXACT if name in found]
        heading = f"median of {len(results)} models"
        panels.append(Panel(heading, "seconds", title, curves, marks=marks, log_x=True, log_y=True))
    return panels


def _page(results: list[dict], found: list[Claim], about: dict) -> list[str]:
    numbers = {**about["versions"], **about["peers"]}
    lines = [
        "# Generic models: accuracy against time",
        "",
        f"`{about['command']}` made this page, on {len(results)} of {len(MODELS)} UAI-2014 models without evidence,",
        "all methods on a model in one run, each on one thread, in processor seconds without reading the file and",
        "without compiling.",
        "",
        *table(found),
        "",
        "![Accuracy against time](generic.svg)",
        "",
        "Round marks: methods that return modes; dotted lines: the time of exact inference. *Restarts* are cold mean",
        "fields in reading order, the best of them; they are ours too, and count as ours against pygms' mean field.",
        f"The tempered Gibbs sampler is annealed importance sampling with {CHAINS} chains on our compiled sweeps: it",
        "returns no modes and no bound, but it is what an outsider would try. Exact inference fits all these models;",
        "where it does, use it. pygms' mean field and BP give up where tables have hard zeros (ObjectDetection).",
        "On the CSP models our 64 modes have about the same weight (exp of the entropy of the weights: 51 to 53):",
        "there must be many more, and a sampler is the better tool.",
        "pyAgrum gets the tables in memory: its reader of UAI files lets the first variable of a table run fastest.",
        "",
        "## Medians over the models",
        "",
        "| method | setting | seconds | error of log Z | error of marginals |",
        "|---|---|---|---|---|",
    ]
    by_z, by_m = medians(results, "log_z_error"), medians(results, "marginal_error")
    for name in NAMES:
        errors = {p["setting"]: p for p in by_m.get(name, [])}
        places = {p["setting"]: p for p in by_z.get(name, [])}
        for setting in dict.fromkeys(r["setting"] for r in results[0]["rows"] if r["method"] == name):
            z, m = places.get(setting), errors.get(setting)
            if z or m:
                seconds = (z or m)["seconds"]
                cells = [f"{p['error']:.3g}" if p else "" for p in (z, m)]
                lines.append(f"| {name} | {setting} | {seconds:.3g} | {cells[0]} | {cells[1]} |")
            else:
                lines.append(f"| {name} | {setting} | | fails on most | |")
    lines += [
        "",
        "## Model by model",
        "",
        "The best answer of each method that returns modes, error of log Z / of the marginals; then the time of pygms'",
        "best mean field and of our cheapest answer that is at least as close to log Z.",
        "",
        "| model | variables | mixfield | restarts | pygms mean field | AIS | pygms, seconds | ours, seconds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for result in results:
        cells = [
            _best(result, n) for n in ("mixfield", "mean field, restarts", "pygms mean field", "tempered Gibbs (AIS)")
        ]
        pair = catch_up(result)
        times = [f"{r['seconds']:.3g}" if r else "fails" for r in (pair["theirs"], pair["ours"])]
        lines.append(f"| {result['model']} | {result['variables']} | " + " | ".join([*cells, *times]) + " |")
    versions = ", ".join(f"{name} {number}" for name, number in numbers.items())
    return [*lines, "", f"Seed 0. {versions}. All numbers: [generic.json](generic.json)."]


def _known(result: dict, method: str, key: str) -> list[float]:
    return [r[key] for r in result["rows"] if r["method"] == method and r[key] is not None]


def _best(result: dict, method: str) -> str:
    values = [_known(result, method, key) for key in ("log_z_error", "marginal_error")]
    return " / ".join(f"{min(v):.3g}" if v else "fails" for v in values)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=Path("docs/reproduction"))
    parser.add_argument("--work", type=Path, default=Path("generic-runs"))
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS, help="to measure; the page has all")
    options = parser.parse_args()
    compile_kernels()
    wanted = {name: (options.data / "uai" / "uai2014" / f"{name}.uai",) for name in options.models}
    for outcome in batch.map(Measured(measure), items(wanted), options.work):
        print(outcome.name, outcome.failure or "", flush=True)
    write_page(list(kept(MODELS, options.work).values()), options.out)
