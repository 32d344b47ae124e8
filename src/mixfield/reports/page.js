"use strict";
// Brings a report to life.  Numbers come from #facts (JSON), bytes from #planes (base64 of zlib); nothing is loaded.

const facts = JSON.parse(document.getElementById("facts").textContent);
const kind = document.body.dataset.kind;
const byId = (id) => document.getElementById(id);

function element(name, attributes = {}, ...children) {
  const svg = ["svg", "g", "circle", "line", "polyline", "rect", "text", "path", "title"].includes(name);
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function percent(share) {
  return share >= 5e-4 || share === 0 ? (100 * share).toFixed(1) + " %" : "< 0.1 %";
}

async function planes() {
  const text = byId("planes").textContent.trim();
  if (!text) return new Uint8Array(0);
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function picture(address) {
  return new Promise((done, fail) => {
    const image = new Image();
    image.onload = () => done(image);
    image.onerror = () => fail(new Error("a picture of this page cannot be shown"));
    image.src = address;
  });
}

// ---------------------------------------------------------------- the tree of cuts

function growTree(onGroup, unit) {
  const nodes = document.querySelectorAll("[data-node]");
  const sayLeaf = (k) => (facts.tree[k].mode >= 0 ? `mode ${facts.tree[k].mode + 1}` : "cut again");
  function explain(node) {
    const { cut, children, mode, log_z: bound, side } = facts.tree[+node.dataset.node];
    const box = byId("cut"), head = element("p", {}, element("b", {}, node.querySelector("text").textContent));
    box.replaceChildren(head);
    if (side) box.append(element("p", {}, `This part: ${side}.`));
    if (bound !== null) box.append(element("p", {}, `Bound A = ${bound.toFixed(3)}.`));
    if (cut) {
      const which = cut.group && cut.group.length ? "" : ` (${cut.first.join(", ")}${cut.size > 6 ? ", ..." : ""})`;
      const heat = cut.temperature === null ? "" : `, found to melt at temperature ${cut.temperature.toFixed(2)}`;
      box.append(element("p", {}, `Cut by a group of ${cut.size} ${unit}${cut.size > 1 ? "s" : ""}${which} and ` +
        `${cut.labels}${heat}:`));
      box.append(element("ul", {}, ...children.map((child) => element("li", {},
        `${facts.tree[child].side}: ${percent(facts.tree[child].weight)}, ${sayLeaf(child)}`))));
    } else {
      box.append(element("p", {}, `A leaf: mode ${mode + 1}.`));
    }
  }
  function press(node) {
    const { cut, mode } = facts.tree[+node.dataset.node];
    for (const other of nodes) other.setAttribute("aria-pressed", String(other === node));
    explain(node);
    onGroup(cut ? cut.group : null, mode);
  }
  if (nodes.length) explain(nodes[0]);
  for (const node of nodes) {
    node.addEventListener("click", () => press(node));
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      press(node);
    });
  }
}

// ---------------------------------------------------------------- segmentation

const WHITE = 0xffffffff;
const RAMP = [[12, 8, 38], [87, 16, 110], [188, 55, 84], [249, 142, 9], [252, 255, 164]];

function ramp(value) {
  const at = Math.min(value * (RAMP.length - 1), RAMP.length - 1.001), k = Math.floor(at);
  return RAMP[k].map((c, i) => Math.round(c + (at - k) * (RAMP[k + 1][i] - c)));
}

async function segmentation() {
  const { height, width, labels, modes, step } = facts;
  const [bytes, photo] = await Promise.all([planes(), picture(facts.photo)]);
  const size = height * width, K = modes.length, L = labels.length;
  const plane = (k) => bytes.subarray(k * size, (k + 1) * size);
  for (let row = 0; row < 1 + L; row++) { // all but the first mode are stored as differences from it
    const first = plane(row * K);
    for (let k = 1; k < K; k++) {
      const other = plane(row * K + k);
      for (let i = 0; i < size; i++) other[i] += first[i];
    }
  }
  const labeling = (k) => plane(k), probability = (k, l, i) => bytes[((1 + l) * K + k) * size + i] / 255;
  const gap = facts.gap === null ? null : plane((1 + L) * K);
  const scribbles = facts.scribbles ? plane((1 + L) * K + (gap ? 1 : 0)) : null;

  const view = byId("view"), paint = view.getContext("2d");
  const layer = element("canvas"), ink = layer.getContext("2d");
  view.width = layer.width = width;
  view.height = layer.height = height;
  view.style.aspectRatio = `${width} / ${height}`;
  let mode = 0, against = Math.min(1, K - 1), show = "labels", opacity = 0.6, group = null, probe = null;

  const pack = (r, g, b, a) => ((a << 24) | (b << 16) | (g << 8) | r) >>> 0; // as little-endian pixels are stored
  function tint(context, colour) { // fills a layer: colour(i) gives a packed pixel, 0 for a transparent one
    const image = context.createImageData(context.canvas.width, context.canvas.height);
    const pixels = new Uint32Array(image.data.buffer);
    for (let i = 0; i < pixels.length; i++) pixels[i] = colour(i);
    context.putImageData(image, 0, 0);
  }
  function edge(map, i) {
    const x = i % width;
    return (x < width - 1 && map[i] !== map[i + 1]) || (i + width < size && map[i] !== map[i + width]);
  }
  function shades() { // a packed colour for every label, and transparency for those that are not listed
    const table = new Uint32Array(256);
    labels.forEach((label, l) => { table[l] = pack(...label.colour, 255 * opacity * (label.value ? 1 : 0.75)); });
    return table;
  }
  function overlay(k) {
    const map = labeling(k), table = shades();
    tint(ink, (i) => (edge(map, i) ? WHITE : table[map[i]]));
  }
  function draw() {
    paint.globalAlpha = 1;
    paint.drawImage(photo, 0, 0, width, height);
    ink.clearRect(0, 0, width, height);
    if (show === "labels") overlay(mode);
    else if (show === "differ") {
      const one = labeling(mode), other = labeling(against);
      const same = pack(128, 128, 128, 165), changed = pack(255, 106, 0, 60 + 195 * opacity);
      tint(ink, (i) => (one[i] === other[i] ? same : changed));
    } else if (show === "gap") {
      const table = Uint32Array.from({ length: 256 }, (_, v) => pack(...ramp(v / 255), 90 + 165 * opacity));
      tint(ink, (i) => table[gap[i]]);
    } else if (show === "scribbles") {
      tint(ink, (i) => (scribbles[i] < L ? pack(...BRIGHT[scribbles[i] % BRIGHT.length], 255) : 0));
    }
    paint.drawImage(layer, 0, 0);
    if (group) {
      const inside = new Uint8Array(size), mark = pack(0, 229, 255, 150);
      for (let r = 0; r < group.length; r += 2) inside.fill(1, group[r], group[r] + group[r + 1]);
      tint(ink, (i) => (inside[i] ? mark : 0));
      paint.drawImage(layer, 0, 0);
    }
    if (probe) {
      const reach = Math.max(3, Math.round(width / 80));
      paint.lineWidth = Math.max(1, width / 400);
      for (const [colour, more] of [["#000", 1], ["#fff", 0]]) {
        paint.strokeStyle = colour;
        paint.strokeRect(probe.x - reach - more, probe.y - reach - more, 2 * (reach + more) + 1, 2 * (reach + more) + 1);
      }
    }
  }
  function ask() {
    const i = probe.y * width + probe.x, table = byId("probe");
    const mixed = labels.map((_, l) => modes.reduce((sum, m, k) => sum + m.weight * probability(k, l, i), 0));
    const found = modes.map((_, k) => (labels[labeling(k)[i]] || { name: "another label" }).name);
    byId("probe-text").textContent = `Row ${probe.y * step}, column ${probe.x * step}: ` +
      (new Set(found).size === 1 ? `every mode says ${found[0]}.`
        : found.map((name, k) => `mode ${k + 1} ${name}`).join(", ") + ".");
    const heads = ["", ...modes.map((_, k) => `mode ${k + 1}`), "mixture"];
    table.tHead.replaceChildren(element("tr", {}, ...heads.map((h) => element("th", { scope: "col" }, h))));
    table.tBodies[0].replaceChildren(...labels.map((label, l) => element("tr", {},
      element("th", { scope: "row" }, label.name),
      ...modes.map((_, k) => element("td", found[k] === label.name ? { class: "other" } : {},
        percent(probability(k, l, i)))),
      element("td", {}, percent(mixed[l])))));
    table.hidden = false;
  }
  function point(x, y) {
    probe = { x: Math.max(0, Math.min(width - 1, x)), y: Math.max(0, Math.min(height - 1, y)) };
    ask();
    schedule();
  }
  let waiting = false;
  function schedule() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  }
  function locate(event) {
    const box = view.getBoundingClientRect(), scale = Math.min(box.width / width, box.height / height);
    point(Math.floor((event.clientX - box.left) / scale), Math.floor((event.clientY - box.top) / scale));
  }
  view.addEventListener("pointermove", locate);
  view.addEventListener("pointerdown", locate);
  view.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (!(event.key in moves)) return;
    event.preventDefault();
    const by = event.shiftKey ? 20 : 4, at = probe || { x: width >> 1, y: height >> 1 };
    point(at.x + by * moves[event.key][0], at.y + by * moves[event.key][1]);
  });
  function choose() {
    byId("against-row").hidden = show !== "differ";
    document.querySelector(`[name=mode][value="${mode}"]`).checked = true;
    document.querySelector(`[name=show][value="${show}"]`).checked = true;
    byId("against").value = String(against);
    view.setAttribute("aria-label", `the image with mode ${mode + 1}, ${percent(modes[mode].weight)}; ` +
      "arrow keys move the pixel probe");
    draw();
  }
  for (const input of document.querySelectorAll("[name=mode]")) {
    input.addEventListener("change", () => {
      mode = +input.value;
      group = null;
      if (show === "photo" || show === "gap" || show === "scribbles") show = "labels";
      choose();
    });
  }
  for (const input of document.querySelectorAll("[name=show]")) {
    input.addEventListener("change", () => {
      show = input.value;
      if (against === mode) against = mode ? 0 : Math.min(1, K - 1);
      choose();
    });
  }
  byId("against").addEventListener("change", (event) => { against = +event.target.value; choose(); });
  byId("opacity").addEventListener("input", (event) => { opacity = event.target.value / 100; schedule(); });
  for (const button of document.querySelectorAll("[data-pair]")) {
    button.addEventListener("click", () => {
      [mode, against] = button.dataset.pair.split(",").map(Number);
      show = "differ";
      group = null;
      choose();
      view.scrollIntoView({ block: "nearest" });
    });
  }
  growTree((runs, leaf) => {
    group = runs;
    if (leaf >= 0) { mode = leaf; show = "labels"; }
    choose();
  }, facts.unit || "pixel");

  for (const thumb of document.querySelectorAll(".thumb")) {
    const scale = Math.min(1, 160 / Math.max(width, height));
    thumb.width = Math.round(width * scale);
    thumb.height = Math.round(height * scale);
    const context = thumb.getContext("2d"), small = element("canvas", { width: thumb.width, height: thumb.height });
    const map = labeling(+thumb.dataset.mode), table = shades();
    const at = (i) => Math.floor(Math.floor(i / thumb.width) / scale) * width + Math.floor((i % thumb.width) / scale);
    tint(small.getContext("2d"), (i) => table[map[at(i)]]);
    context.drawImage(photo, 0, 0, thumb.width, thumb.height);
    context.drawImage(small, 0, 0);
  }
  choose();
}

const BRIGHT = [[40, 110, 255], [255, 221, 0], [0, 200, 120], [255, 90, 160], [255, 140, 0], [160, 110, 255]];

// ---------------------------------------------------------------- a field of variables

function field() {
  const rows = [...document.querySelectorAll("#variables tbody tr")], search = byId("search");
  function filter() {
    const words = search.value.trim().toLowerCase();
    let count = 0;
    for (const row of rows) {
      row.hidden = words !== "" && !row.dataset.name.includes(words);
      count += !row.hidden;
    }
    byId("found").textContent = `${count} of ${rows.length} variables`;
  }
  if (search) search.addEventListener("input", filter);
  growTree((runs) => {
    const group = new Set();
    for (let r = 0; runs && r < runs.length; r += 2) for (let i = 0; i < runs[r + 1]; i++) group.add(runs[r] + i);
    for (const row of rows) row.style.background = group.has(+row.dataset.variable) ? "var(--card)" : "";
  }, "variable");
}

// ---------------------------------------------------------------- sequences: one mode per frame

function player(frames, draw) { // a slider, a play button and the arrow keys
  const slider = byId("time"), play = byId("play");
  let timer = null;
  const speak = (how) => byId("say").setAttribute("aria-live", how); // a film would never stop talking
  const stop = () => {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
    play.setAttribute("aria-pressed", "false");
    speak("polite");
  };
  slider.addEventListener("input", () => draw(+slider.value));
  play.addEventListener("click", () => {
    if (timer) return stop();
    play.textContent = "Stop";
    play.setAttribute("aria-pressed", "true");
    speak("off");
    timer = setInterval(() => {
      slider.value = (+slider.value + 1) % frames;
      draw(+slider.value);
    }, facts.pause);
    return undefined;
  });
  return (frame) => { slider.value = frame; draw(frame); };
}

function trellis(frames, select) { // one column per frame, one circle per mode, a line through the chosen ones
  const most = Math.max(...frames.map((f) => f.weights.length)), gapX = frames.length > 120 ? 12 : 20, gapY = 22;
  const left = 58, width = left + frames.length * gapX + 10, height = most * gapY + 26;
  const at = (t, k) => [left + (t + 0.5) * gapX, 14 + k * gapY];
  const svg = element("svg", { class: "trellis", width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": "the chosen mode of each frame" });
  const now = element("rect", { x: 0, y: 0, width: gapX, height: most * gapY + 6 });
  svg.append(now);
  for (let k = 0; k < most; k++) svg.append(element("text", { x: 0, y: at(0, k)[1] + 4 }, `mode ${k + 1}`));
  for (let t = 1; t < frames.length; t++) {
    const [x1, y1] = at(t - 1, frames[t - 1].chosen), [x2, y2] = at(t, frames[t].chosen);
    svg.append(element("line", { x1, y1, x2, y2 }));
  }
  frames.forEach((frame, t) => {
    frame.weights.forEach((weight, k) => {
      const [cx, cy] = at(t, k), dot = element("circle", { cx, cy, r: 3 + (gapX / 2 - 4) * Math.sqrt(weight),
        class: k === frame.chosen ? "chosen" : "", "data-frame": t, "data-mode": k },
      element("title", {}, `frame ${frame.number}, mode ${k + 1}: ${percent(weight)}`));
      dot.addEventListener("click", () => select(t, k));
      svg.append(dot);
    });
    const last = frames.length - 1;
    if (t % 10 === 0 && (t === 0 || last - t > 2 || t === last) || t === last) svg.append(element("text", { x: at(t, 0)[0] - 6, y: height - 4 }, String(frame.number)));
  });
  byId("trellis").append(svg);
  return (t) => {
    now.setAttribute("x", at(t, 0)[0] - gapX / 2);
    const box = byId("trellis");
    const x = at(t, 0)[0];
    if (x < box.scrollLeft + left || x > box.scrollLeft + box.clientWidth - 20) box.scrollLeft = x - box.clientWidth / 2;
  };
}

function modeButtons(frame, current, choose) {
  const box = byId("frame-modes"), held = box.contains(document.activeElement); // or else the keyboard would be lost
  box.replaceChildren(...frame.weights.map((weight, k) => {
    const button = element("button", { type: "button", "aria-pressed": String(k === current), "data-choice": k },
      `mode ${k + 1}: ${percent(weight)}${k === frame.chosen ? " (chosen)" : ""}`);
    button.addEventListener("click", () => choose(k));
    return button;
  }));
  if (held) box.children[current].focus();
  byId("time").setAttribute("aria-valuetext", `frame ${frame.number}`);
}

function video() {
  const { frames } = facts;
  let time = 0, mode = frames[0].chosen;
  function draw() {
    const frame = frames[time];
    for (const photo of document.querySelectorAll("img.photo")) photo.src = frame.photo;
    byId("chosen").src = frame.modes[mode];
    byId("single").src = frame.single;
    byId("chosen-title").textContent = `mode ${mode + 1}, ${percent(frame.weights[mode])}` +
      (mode === frame.chosen ? ", chosen" : ", not chosen");
    byId("say").textContent = `Frame ${frame.number}: mode ${frame.chosen + 1} chosen (${percent(frame.weights[frame.chosen])}); ` +
      `${mode === frame.chosen ? "it" : `mode ${mode + 1}`} differs from mean field in ${percent(frame.differs[mode])} of the pixels` +
      (frame.cost === null || frame.cost === undefined ? "." : `; step cost ${frame.cost.toFixed(2)}.`);
    modeButtons(frame, mode, (k) => { mode = k; draw(); });
    mark(time);
  }
  const go = player(frames.length, (t) => { time = t; mode = frames[t].chosen; draw(); });
  const mark = trellis(frames, (t, k) => { go(t); mode = k; draw(); });
  byId("opacity").addEventListener("input", (event) => {
    for (const over of document.querySelectorAll("img.over")) over.style.opacity = event.target.value / 100;
  });
  go(0);
}

function people() {
  const { frames, cameras, ground, tracks } = facts;
  let time = 0, mode = frames[0].chosen;
  const colour = (identity) => `hsl(${(identity * 137.5) % 360} 70% 45%)`;
  const floor = byId("ground"), cell = ground.cell;
  function drawGround(frame) {
    floor.replaceChildren(element("rect", { class: "floor", x: ground.interest[0], y: ground.interest[1],
      width: ground.interest[2], height: ground.interest[3], "stroke-width": cell / 6 }));
    let count = 0;
    for (const [identity, first, places] of tracks) {
      const i = time - first;
      if (i < 0 || i >= places.length) continue;
      count += 1;
      const tail = places.slice(Math.max(0, i - 25), i + 1).map((p) => p[0] + "," + p[1]).join(" ");
      floor.append(element("polyline", { points: tail, fill: "none", stroke: colour(identity), "stroke-width": cell / 3,
        opacity: 0.6 }));
      floor.append(element("circle", { cx: places[i][0], cy: places[i][1], r: cell * 0.75, stroke: colour(identity),
        "stroke-width": cell / 5, fill: places[i][2] >= 0.5 ? colour(identity) : "none", class: "track" }));
    }
    for (const [x, y, everywhere] of frame.people[mode] || []) {
      floor.append(element("rect", { x: x - cell / 2, y: y - cell / 2, width: cell, height: cell, class: "person",
        fill: everywhere ? "#2e9e4f" : "#e8710a", stroke: "#ffffff", "stroke-width": cell / 12 }));
    }
    return count;
  }
  function drawCameras(frame) {
    cameras.forEach((camera, c) => {
      const image = byId(`camera-${c}`), boxes = byId(`boxes-${c}`);
      if (frame.pictures[c]) image.src = frame.pictures[c];
      boxes.replaceChildren(...(frame.boxes[mode] || []).flatMap(([view, x0, y0, x1, y1, everywhere]) => (view !== c ? []
        : [element("rect", { x: x0, y: y0, width: x1 - x0, height: y1 - y0, fill: "none", class: "box",
          stroke: everywhere ? "#39d353" : "#ff8c1a", "stroke-width": camera.width / 120 })])));
    });
  }
  function draw() {
    const frame = frames[time], tracked = drawGround(frame);
    drawCameras(frame);
    const standing = (frame.people[mode] || []).length;
    byId("say").textContent = `Frame ${frame.number}: mode ${mode + 1} (${percent(frame.weights[mode])}) has ` +
      `${standing} ${standing === 1 ? "person" : "people"}` + (tracks.length ? `; ${tracked} on a track.` : ".");
    modeButtons(frame, mode, (k) => { mode = k; draw(); });
    mark(time);
  }
  const go = player(frames.length, (t) => { time = t; mode = frames[t].chosen; draw(); });
  const mark = trellis(frames, (t, k) => { go(t); mode = k; draw(); });
  go(0);
}

const started = performance.now();
Promise.resolve()
  .then(() => ({ segmentation, field, video, people })[kind]())
  .then(() => { document.body.dataset.ready = String(Math.round(performance.now() - started)); })
  .catch((error) => {
    document.querySelector("main").prepend(element("p", { class: "note", role: "alert" },
      `This browser cannot show the interactive part: ${error.message}.`));
    throw error;
  });
