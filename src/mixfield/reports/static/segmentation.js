// A segmentation: modes over the image, comparison of modes, pixel probe, tree of cuts.

const { height, width, labels, modes, step, colors } = facts;
const size = height * width, K = modes.length, L = labels.length;
const P = facts.calibrated ? 1 : K; // probabilities of a pixel and label: of the calibrated mixture, or of each mode
const WHITE = 0xffffffff, THUMB_SIDE = 160;

function decodePlanes(bytes) { // label of each pixel per mode, probabilities per label, doubt, scribbles
  const plane = (k) => bytes.subarray(k * size, (k + 1) * size);
  function restore(start, count) { // all but the first are stored as differences from it
    const first = plane(start);
    for (let k = 1; k < count; k++) {
      const other = plane(start + k);
      for (let i = 0; i < size; i++) other[i] += first[i];
    }
  }
  restore(0, K);
  for (let l = 0; l < L; l++) restore(K + l * P, P);
  const end = K + L * P;
  return {
    labeling: plane,
    probability: (k, l, i) => bytes[(K + l * P + k) * size + i] / 255,
    doubt: plane(end),
    scribbles: facts.scribbles ? plane(end + 1) : null,
  };
}

const pack = (r, g, b, a) => ((a << 24) | (b << 16) | (g << 8) | r) >>> 0; // as little-endian pixels are stored

function fillPixels(context, colorOf) { // colorOf(i) is a packed pixel, 0 for a transparent one
  const image = context.createImageData(context.canvas.width, context.canvas.height);
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < pixels.length; i++) pixels[i] = colorOf(i);
  context.putImageData(image, 0, 0);
}

function rampColor(value) {
  const { ramp } = colors, at = Math.min(value * (ramp.length - 1), ramp.length - 1.001), k = Math.floor(at);
  return ramp[k].map((c, i) => Math.round(c + (at - k) * (ramp[k + 1][i] - c)));
}

function labelColors(opacity) { // a packed color for every listed label, transparent for others
  const table = new Uint32Array(256);
  labels.forEach((label, l) => { table[l] = pack(...label.color, 255 * opacity * (label.value ? 1 : 0.75)); });
  return table;
}

function isBorder(map, i) { // whether the right or lower neighbour has another label
  return (i % width < width - 1 && map[i] !== map[i + 1]) || (i + width < size && map[i] !== map[i + width]);
}

const LAYERS = { // functions from the planes and the state of the view to the packed color of each pixel
  labels: ({ labeling }, { mode, opacity }) => {
    const map = labeling(mode), table = labelColors(opacity);
    return (i) => (isBorder(map, i) ? WHITE : table[map[i]]);
  },
  differ: ({ labeling }, { mode, against, opacity }) => {
    const one = labeling(mode), other = labeling(against);
    const same = pack(...colors.same, 165), changed = pack(...colors.changed, 60 + 195 * opacity);
    return (i) => (one[i] === other[i] ? same : changed);
  },
  doubt: ({ doubt }, { opacity }) => {
    const table = Uint32Array.from({ length: 256 }, (_, v) => pack(...rampColor(v / 255), 90 + 165 * opacity));
    return (i) => table[doubt[i]];
  },
  scribbles: ({ scribbles }) =>
    (i) => (scribbles[i] < L ? pack(...colors.scribbles[scribbles[i] % colors.scribbles.length], 255) : 0),
  photo: () => () => 0,
};

function groupLayer(runs) {
  const inside = new Uint8Array(size), mark = pack(...colors.group, 150);
  for (let r = 0; r < runs.length; r += 2) inside.fill(1, runs[r], runs[r] + runs[r + 1]);
  return (i) => (inside[i] ? mark : 0);
}

const rgb = (color) => `rgb(${color.join(",")})`;

function layerKeys({ show, mode, against, group }) { // the colors of the layer and what they mean
  const keys = [];
  if (show === "differ") {
    keys.push([rgb(colors.changed), `modes ${mode + 1} and ${against + 1} differ`], [rgb(colors.same), "same label"]);
  }
  if (show === "doubt") {
    keys.push([rgb(colors.ramp[0]), "0 bits"], [rgb(colors.ramp.at(-1)), `${facts.doubt.maximum.toFixed(1)} bits`]);
  }
  if (group) keys.push([rgb(colors.group), `${facts.unit}s of the selected cut`]);
  return keys;
}

const LAYER_TEXTS = { doubt: facts.doubt.text };

function showKeys(state) {
  const keys = layerKeys(state), list = byId("layer-keys"), text = byId("layer-text");
  list.hidden = keys.length === 0;
  list.replaceChildren(...keys.map(([color, name]) => {
    const mark = element("i");
    mark.style.background = color;
    return element("li", {}, mark, name);
  }));
  text.hidden = !(state.show in LAYER_TEXTS);
  text.textContent = LAYER_TEXTS[state.show] || "";
}

function drawProbe(context, { x, y }) { // a white square with a black rim
  const reach = Math.max(3, Math.round(width / 80));
  context.lineWidth = Math.max(1, width / 400);
  for (const [color, more] of [["#000", 1], ["#fff", 0]]) {
    context.strokeStyle = color;
    context.strokeRect(x - reach - more, y - reach - more, 2 * (reach + more) + 1, 2 * (reach + more) + 1);
  }
}

function showProbe({ labeling, probability }, { x, y }) { // the table of label probabilities of a pixel
  const i = y * width + x, table = byId("probe"), columns = facts.calibrated ? [] : modes;
  const mixed = labels.map((_, l) => (facts.calibrated ? probability(0, l, i)
    : modes.reduce((sum, m, k) => sum + m.weight * probability(k, l, i), 0)));
  const names = modes.map((_, k) => (labels[labeling(k)[i]] || { name: "another label" }).name);
  byId("probe-text").textContent = `Row ${y * step}, column ${x * step}: ` +
    (new Set(names).size === 1 ? `${names[0]} in every mode.`
      : names.map((name, k) => `mode ${k + 1} ${name}`).join(", ") + ".");
  const heads = ["", ...columns.map((_, k) => `mode ${k + 1}`), facts.calibrated ? "probability" : "mixture"];
  table.tHead.replaceChildren(element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head))));
  table.tBodies[0].replaceChildren(...labels.map((label, l) => element("tr", {},
    element("th", { scope: "row" }, label.name),
    ...columns.map((_, k) => element("td", names[k] === label.name ? { class: "other" } : {},
      percent(probability(k, l, i)))),
    element("td", {}, percent(mixed[l])))));
  table.hidden = false;
}

function drawThumbnail(canvas, photo, map, opacity) {
  const scale = Math.min(1, THUMB_SIDE / Math.max(width, height)), table = labelColors(opacity);
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d"), layer = element("canvas", { width: canvas.width, height: canvas.height });
  const at = (i) => Math.floor(Math.floor(i / canvas.width) / scale) * width + Math.floor((i % canvas.width) / scale);
  fillPixels(layer.getContext("2d"), (i) => table[map[at(i)]]);
  context.drawImage(photo, 0, 0, canvas.width, canvas.height);
  context.drawImage(layer, 0, 0);
}

start(async () => {
  const [bytes, photo] = await Promise.all([readPlanes(), decodeImage(facts.photo)]);
  const planes = decodePlanes(bytes), view = byId("view"), context = view.getContext("2d");
  const layer = element("canvas"), layerContext = layer.getContext("2d");
  const state = { mode: 0, against: Math.min(1, K - 1), show: "labels", opacity: 0.6, group: null, probe: null };
  view.width = layer.width = width;
  view.height = layer.height = height;
  view.style.aspectRatio = `${width} / ${height}`;

  function drawLayer(colorOf) {
    fillPixels(layerContext, colorOf);
    context.drawImage(layer, 0, 0);
  }
  function draw() {
    context.globalAlpha = 1;
    context.drawImage(photo, 0, 0, width, height);
    drawLayer(LAYERS[state.show](planes, state));
    if (state.group) drawLayer(groupLayer(state.group));
    if (state.probe) drawProbe(context, state.probe);
  }
  let scheduled = false;
  function scheduleDraw() { // at most once per frame of the screen
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(() => { scheduled = false; draw(); });
  }
  function update(changes) { // the controls follow the state
    Object.assign(state, changes);
    const { mode, against, show } = state;
    byId("against-row").hidden = show !== "differ";
    document.querySelector(`[name=mode][value="${mode}"]`).checked = true;
    document.querySelector(`[name=show][value="${show}"]`).checked = true;
    byId("against").value = String(against);
    view.setAttribute("aria-label", `the image with mode ${mode + 1}, ${percent(modes[mode].weight)}; ` +
      "arrow keys move the pixel probe");
    showKeys(state);
    draw();
  }
  function moveProbe(x, y) {
    state.probe = { x: Math.max(0, Math.min(width - 1, x)), y: Math.max(0, Math.min(height - 1, y)) };
    showProbe(planes, state.probe);
    scheduleDraw();
  }
  function probeAtPointer(event) {
    const box = view.getBoundingClientRect(), scale = Math.min(box.width / width, box.height / height);
    moveProbe(Math.floor((event.clientX - box.left) / scale), Math.floor((event.clientY - box.top) / scale));
  }
  view.addEventListener("pointermove", probeAtPointer);
  view.addEventListener("pointerdown", probeAtPointer);
  view.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (!(event.key in moves)) return;
    event.preventDefault();
    const by = event.shiftKey ? 20 : 4, at = state.probe || { x: width >> 1, y: height >> 1 };
    moveProbe(at.x + by * moves[event.key][0], at.y + by * moves[event.key][1]);
  });
  for (const input of document.querySelectorAll("[name=mode]")) {
    input.addEventListener("change", () => {
      update({ mode: +input.value, group: null, show: state.show === "differ" ? "differ" : "labels" });
    });
  }
  for (const input of document.querySelectorAll("[name=show]")) {
    input.addEventListener("change", () => {
      const other = state.mode ? 0 : Math.min(1, K - 1);
      update({ show: input.value, against: state.against === state.mode ? other : state.against });
    });
  }
  byId("against").addEventListener("change", (event) => update({ against: +event.target.value }));
  byId("opacity").addEventListener("input", (event) => {
    state.opacity = event.target.value / 100;
    scheduleDraw();
  });
  for (const button of document.querySelectorAll("[data-pair]")) {
    button.addEventListener("click", () => {
      const [mode, against] = button.dataset.pair.split(",").map(Number);
      update({ mode, against, show: "differ", group: null });
      view.scrollIntoView({ block: "nearest" });
    });
  }
  initCutTree((group, leaf) => update(leaf >= 0 ? { group, mode: leaf, show: "labels" } : { group }), facts.unit);
  for (const canvas of document.querySelectorAll(".thumb")) {
    drawThumbnail(canvas, photo, planes.labeling(+canvas.dataset.mode), state.opacity);
  }
  update({});
});
