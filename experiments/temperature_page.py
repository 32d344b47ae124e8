"""The page about phase transitions: claims, derivation, figures and numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from experiments import claims, fixed_point
from experiments.claims import Claim
from experiments.temperature import GAMMA, MELTED, NOISE, SHOWN, SRGB, SXY
from mixfield.reports.curves import Curve, Mark, Panel, write_curves
from mixfield.reports.maps import Map, write_maps

T_C = GAMMA / 2
COLD, HOT, UNARY = 2.5, 7.5, 4.0  # of the tanh figure

DERIVATION = """\
## The fixed point, and a factor of two

Two labels, every pixel alike: label 0 costs U, and agreeing with the neighbourhood is worth Γ in all. With q the
probability of label 0 at every pixel, the expected costs of the two labels are U - Γ q and -Γ (1 - q), so the mean
field at temperature T satisfies

    log q / (1 - q) = (Γ (2 q - 1) - U) / T.

With q~ = q - 1/2 the left side is 2 artanh(2 q~), hence

    q~ = 1/2 tanh((Γ q~ - U/2) / T).

The paper prints U instead of U/2 inside the tanh (its equation for log q leaves out the normalisation over both
labels, which shares U between them). Without unaries nothing changes: the slope at zero is Γ / 2T, so T_c = Γ/2. With
them, the solution against the unary disappears where both sides touch: with m = 2 q~, at m² = 1 - 2T/Γ, that is where
|U| = Γ m - 2T artanh(m). Stronger unaries therefore *lower* the temperature at which a second mode exists; the paper
says that smaller ones do. Both are measured below, on a real field with a constant unary, Γ = 10.
""".splitlines()


def write_page(results: dict[str, Any], out: Path) -> Path:
    """``temperature.json``, ``.md`` and three figures as SVG and PNG in a folder; returns the page."""
    out.mkdir(parents=True, exist_ok=True)
    found = judged(results)
    plain = {
        **results,
        "claims": [asdict(c) for c in found],
        "models": {n: {k: v for k, v in m.items() if k != "maps"} for n, m in results["models"].items()},
    }
    (out / "temperature.json").write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
    for ending in ("svg", "png"):
        write_curves(out / f"temperature.{ending}", _entropies(results["models"]), shared_legend=True)
        write_curves(out / f"temperature-tanh.{ending}", _tanh(), shared_legend=True)
        _maps(results["models"], out / f"temperature-maps.{ending}")
    page = out / "temperature.md"
    page.write_text("\n".join(_page(results, found)) + "\n", encoding="utf-8")
    return page


def judged(results: dict[str, Any]) -> list[Claim]:
    """The sentences of the appendix against the numbers."""
    one, two, three = (results["models"][f"model {k}"] for k in (1, 2, 3))
    at = one["melts_at"]["mean"]
    off = abs(at / T_C - 1)
    early, late = two["melts_at"]["highest_decile"], two["melts_at"]["lowest_decile"]
    hot = int(np.argmax(np.array(three["temperature"]) >= 6.0))
    uniform = results["with_unaries"]
    worst = max(abs(row["measured"] - row["predicted"]) for row in uniform)
    printed = max(abs(row["measured"] - row["predicted_as_printed"]) for row in uniform)
    bound = [s <= p for g in results["graphs"] for s, p in zip(g["split"], g["predicted"], strict=True)]
    sharp = [b / p for g in results["graphs"] for b, p in zip(g["split_without_fields"], g["predicted"], strict=True)]
    return [
        Claim(
            f"model 1: two regimes before and after T_c = Γ/2 = {T_C:g}",
            f"melts at T = {at:.2f} ({100 * off:.1f} % off)",
            "confirmed" if off < 0.05 else "not confirmed",
        ),
        Claim(
            "model 2: the prediction remains completely valid",
            f"the most certain tenth melts at T = {late:.2f}, on average at {two['melts_at']['mean']:.2f}",
            "confirmed" if abs(late / T_C - 1) < 0.05 else "not confirmed",
        ),
        Claim(
            "model 2: the 10 % with the highest entropy transition slightly earlier",
            f"at T = {early:.2f}, {late - early:.2f} before the most certain tenth",
            "confirmed" if early < late else "not confirmed",
        ),
        Claim(
            "model 3: minimal and average entropy remain low above T = 5",
            f"at T = 6: lowest tenth {three['lowest_decile'][hot]:.2f}, mean {three['mean'][hot]:.2f} bits",
            "confirmed" if three["mean"][hot] < 0.7 else "not confirmed",
        ),
        Claim(
            "model 3: the maximal entropy behaves as in model 2",
            f"highest tenth at T = 4, 5, 6: {_at(three, 4)}, {_at(three, 5)}, {_at(three, 6)} bits; model 2: "
            f"{_at(two, 4)}, {_at(two, 5)}, {_at(two, 6)}",
            "confirmed" if three["highest_decile"][hot] > MELTED else "not confirmed",
        ),
        Claim(
            "fixed point q~ = 1/2 tanh((q~ Γ - U) / T)",
            f"as printed, the splitting temperature is wrong by up to {printed:.2f}; with U/2 by {worst:.3f}",
            "not confirmed: U/2",
        ),
        Claim(
            "the smaller the unaries, the lower the critical temperature",
            "measured "
            + ", ".join(f"{row['measured']:.2f}" for row in uniform)
            + " for U = "
            + ", ".join(f"{row['unary']:g}" for row in uniform),
            "not confirmed: the larger",
        ),
        Claim(
            "not in the paper: T_max = λ/2 bounds where the mean field of any graph splits",
            f"holds in {sum(bound)} of {len(bound)} random graphs; without fields they split at {min(sharp):.3f} to "
            f"{max(sharp):.3f} of it",
            claims.verdict(sum(bound), len(bound)),
        ),
    ]


def _at(model: dict[str, Any], temperature: float) -> str:
    return f"{model['highest_decile'][model['temperature'].index(temperature)]:.2f}"


def _entropies(models: dict[str, Any]) -> list[Panel]:
    titles = {"model 1": "distance", "model 2": "distance and colour", "model 3": "distance, colour and unaries"}
    panels = []
    for name, path in models.items():
        heat = path["temperature"]
        curves = [
            Curve("highest decile", heat, path["highest_decile"], colour="#edae49"),
            Curve("mean", heat, path["mean"], colour="#d1495b"),
            Curve("lowest decile", heat, path["lowest_decile"], colour="#00798c"),
        ]
        if name == "model 1":
            curves.append(Curve("fixed-point equation", heat, [_bits(t) for t in heat], (), "#3b3b58", True, marker=""))
        marks = [Mark("Γ/2", T_C)]
        panels.append(Panel(f"{name}: {titles[name]}", "temperature", "entropy (bits)", curves, top=1.03, marks=marks))
    return panels


def _bits(temperature: float) -> float:
    """Entropy of the polarised solution without unaries."""
    q = 0.5 + fixed_point.solutions(GAMMA, 0.0, temperature)[-1]
    return float(sum(-p * np.log2(p) for p in (q, 1 - q) if p > 0))


def _tanh() -> list[Panel]:
    grid = np.linspace(-0.5, 0.5, 201).tolist()
    panels = []
    for title, unary in (("without unaries", 0.0), (f"with unaries, U = {UNARY:g}", UNARY)):
        curves = [Curve("q~", grid, grid, colour="#8d96a3", marker="")]
        for name, heat, colour in (("low", COLD, "#00798c"), ("high", HOT, "#d1495b")):
            right = [fixed_point.right_hand_side(q, GAMMA, unary, heat) for q in grid]
            crossings = fixed_point.solutions(GAMMA, unary, heat)
            curves.append(Curve(f"{name} T = {heat:g}", grid, right, (), colour, marker=""))
            curves.append(Curve(f"solutions, {name} T", crossings, crossings, (), colour, joined=False))
        panels.append(Panel(title, "q~ = q - 1/2", "½ tanh((Γ q~ - U/2) / T)", curves))
    return panels


def _maps(models: dict[str, Any], path: Path) -> None:
    maps = [
        Map(
            f"T = {t:g}" if name == "model 1" else "",
            np.array(path_["maps"][f"{t:g}"]),
            side=name if t == SHOWN[0] else "",
        )
        for name, path_ in models.items()
        for t in SHOWN
    ]
    write_maps(path, maps, columns=len(SHOWN), label="probability of label 0")


def _page(results: dict[str, Any], found: Sequence[Claim]) -> list[str]:
    about = results["made_by"]
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    height, width = results["shape"]
    return [
        "# Phase transitions of dense CRFs",
        "",
        f"`{about['command']}` made this page: the appendix of the paper, Γ = {GAMMA:g}, on",
        f"{results['photo']}, reduced to {width} x {height} pixels.",
        "",
        *claims.table(found),
        "",
        "![Entropy over temperature](temperature.svg)",
        "",
        f"Kernels with σ = {SXY:g} pixels and {SRGB:g} grey levels, symmetrically normalised. Models 1 and 2 have",
        f"noise of {NOISE:g} nats for unaries, to break the tie. The mode found at T = 1 is followed upwards; *melts*",
        f"means that the entropy passes {MELTED:g} bits, which an infinite uniform field does at 0.995 T_c. The",
        "symmetric normalisation makes the largest eigenvalue of every kernel one, so model 2 melts at Γ/2 whatever",
        "its image; the paper's θ_rgb ≤ 1 belongs to a kernel that is not normalised.",
        "",
        "![The probability of label 0 at several temperatures](temperature-maps.svg)",
        "",
        "Label 0 is background in model 3 and one of two equal labels in the others.",
        "",
        *DERIVATION,
        "",
        "![Both sides of the fixed-point equation](temperature-tanh.svg)",
        "",
        "| U | mode against the unary vanishes: measured | with U/2 | with U, as printed |",
        "|---|---|---|---|",
        *(
            f"| {row['unary']:g} | {row['measured']:.3f} | {row['predicted']:.3f} | {row['predicted_as_printed']:.3f} |"
            for row in results["with_unaries"]
        ),
        "",
        "## Random graphs: the eigenvalue against the splitting",
        "",
        "T_max = λ/2 with λ the largest eigenvalue of minus the Jacobian of the local field",
        f"(`critical_temperature`). Splitting: the highest temperature at which {results['starts']} random starts",
        f"still lead to two mean fields, by bisection; means over {len(results['graphs'][0]['split'])} fields. The",
        "preset `weller` is `mmmf` with all energies halved, so its temperatures are half of these.",
        "",
        "| graphs | T_max | splits without fields | ratio | splits with its fields | ratio |",
        "|---|---|---|---|---|---|",
        *(_row(graph) for graph in results["graphs"]),
        "",
        f"Seeds: {about['seeds']}. {versions}. All numbers: [temperature.json](temperature.json).",
    ]


def _row(graph: dict[str, Any]) -> str:
    predicted, bare, split = (np.array(graph[key]) for key in ("predicted", "split_without_fields", "split"))
    return (
        f"| {graph['family']} | {predicted.mean():.3f} | {bare.mean():.3f} | {(bare / predicted).mean():.3f} | "
        f"{split.mean():.3f} | {(split / predicted).mean():.3f} |"
    )
