"""Tracks seen from above: one self-contained page with a slider through time."""

from __future__ import annotations

import json
from html import escape

import numpy as np
from numpy.typing import NDArray

from mixfield.apps.tracking import Tracks

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {{ font: 15px system-ui, sans-serif; color: #1b1b1f; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }}
svg {{ width: 100%; max-height: 70vh; border: 1px solid #b9b9c2; background: #fafafa; }}
input {{ width: 100%; }} td {{ padding-right: 1.5rem; }} .doubt {{ color: #b3541e; }}
</style></head><body>
<h1>{title}</h1>
<svg viewBox="{box}" role="img" aria-label="tracks from above"><g transform="scale(1,-1)" id="ground"></g></svg>
<p><button id="play">play</button> frame <b id="number"></b>, mode <b id="mode"></b>, <b id="count"></b> people;
hollow where nobody was seen</p>
<input type="range" id="time" min="0" max="{last}" value="0" aria-label="frame">
<table>{facts}</table>
<script>
const tracks = {tracks}, modes = {modes}, cell = {cell};
const ground = document.getElementById("ground"), time = document.getElementById("time");
function shape(name, attributes) {{
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  ground.appendChild(node);
}}
function draw() {{
  const now = +time.value; let count = 0; ground.replaceChildren();
  for (const [identity, first, places] of tracks) {{
    const i = now - first, colour = `hsl(${{(identity * 137.5) % 360}} 70% 40%)`;
    if (i < 0 || i >= places.length) continue;
    count += 1;
    const tail = places.slice(Math.max(0, i - 25), i + 1).map(p => p[0] + "," + p[1]).join(" ");
    shape("polyline", {{points: tail, fill: "none", stroke: colour, "stroke-width": cell / 3, opacity: 0.5}});
    const seen = places[i][2] >= 0.5;
    shape("circle", {{cx: places[i][0], cy: places[i][1], r: cell * 0.8, stroke: colour, "stroke-width": cell / 5,
                      fill: seen ? colour : "none"}});
  }}
  document.getElementById("number").textContent = now;
  const mode = document.getElementById("mode");
  mode.textContent = modes[now] + 1; mode.className = modes[now] ? "doubt" : "";
  document.getElementById("count").textContent = count;
}}
let timer = null;
document.getElementById("play").onclick = event => {{
  if (timer) {{ clearInterval(timer); timer = null; event.target.textContent = "play"; return; }}
  event.target.textContent = "stop";
  timer = setInterval(() => {{ time.value = (+time.value + 1) % (+time.max + 1); draw(); }}, {pause});
}};
time.oninput = draw; draw();
</script></body></html>
"""


def birdseye(tracks: Tracks, *, title: str = "Tracks") -> str:
    """The text of an HTML page."""
    rows, columns = tracks.ground.shape
    cell, (x, y) = tracks.ground.cell, tracks.ground.origin
    box = f"{x} {-(y + rows * cell)} {columns * cell} {rows * cell}"
    drawn = [[identity, int(rows["frame"][0]), _places(rows)] for identity, rows in tracks.by_identity.items()]
    shown = {name: value if isinstance(value, str) else f"{value:.6g}" for name, value in tracks.summary().items()}
    facts = "".join(f"<tr><td>{name.replace('_', ' ')}</td><td>{value}</td></tr>" for name, value in shown.items())
    return PAGE.format(
        title=escape(title),
        box=box,
        last=max(tracks.frames - 1, 0),
        facts=facts,
        tracks=json.dumps(drawn, separators=(",", ":")),
        modes=json.dumps(tracks.chosen_modes.tolist() or [0]),
        cell=cell,
        pause=round(1000 / (tracks.frame_rate or 10)),
    )


def _places(rows: NDArray[np.void]) -> list[list[float]]:
    return [[round(float(r["x"]), 3), round(float(r["y"]), 3), round(float(r["confidence"]), 2)] for r in rows]
