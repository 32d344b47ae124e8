// The page: opens images, sends actions one after the other, shows what comes back.

import { RequestError, Server, loadedImage } from "./requests.js";
import { View, striped } from "./view.js";
import { Pointers } from "./pointers.js";
import { byId, showCards, showFolder, showLabels, showSets } from "./panels.js";

const STEP = 10; // pixels that an arrow key moves the cross
const ZOOM = 1.4;

const view = new View(byId("view"));
const place = new URLSearchParams(location.hash.slice(1));
const labelSet = Number(place.get("labels")) || 0;
const server = new Server(labelSet);
let folder = null, state = null, pictures = [], dismissed = null;
let queue = Promise.resolve(), waiting = 0;

const checked = name => document.querySelector(`[name=${name}]:checked`)?.value;
const check = (name, value) => { document.querySelector(`[name=${name}][value="${value}"]`).checked = true; };

// ------------------------------------------------------------------ requests, one after the other

function enqueue(work) {
  wait(+1);
  queue = queue.then(work).catch(failed).finally(() => wait(-1));
  return queue;
}

function wait(change) {
  waiting += change;
  byId("busy").hidden = waiting === 0;
  for (const id of ["cards", "question"]) byId(id).classList.toggle("old", waiting > 0);
  document.body.dataset.waiting = String(waiting);
}

async function failed(error) {
  if (!(error instanceof RequestError)) throw error;
  say(error.message, true);
  if (error.state) await show(error.state);
  else if (state) await server.image(state.index).then(show, () => {});
}

function say(text, isError = false) {
  if (isError) byId("error").hidden = false;
  byId(isError ? "error" : "hint").textContent = text;
}

// An action on the image that is shown now, even if another one is open when its turn comes.
function act(action, index = state.index) {
  enqueue(async () => {
    const answer = await server.act(index, { ...action, revision: state.revision });
    byId("error").hidden = true;
    if (index !== state.index) return;
    await showAnswer(answer);
    if (waiting === 1) await show(await server.image(index)); // else the next action changes them anyway
  });
}

// ------------------------------------------------------------------ what is shown

async function open(index) {
  const [answer, picture] = await Promise.all([server.image(index), loadedImage(server.pictureAddress(index))]);
  Object.assign(view, { picture, width: answer.width, height: answer.height, strokes: [], cross: null });
  Object.assign(view, { labels: null, preview: null, region: null });
  state = answer;
  dismissed = null;
  byId("error").hidden = true;
  place.set("image", String(index));
  history.replaceState(null, "", `#${place}`);
  view.fit();
  await show(answer);
  showFolder(folder, index);
}

// Labels and strokes, which the server sends first.
async function showAnswer(answer) {
  const labels = await loadedImage(answer.labels);
  state = { ...state, ...answer };
  Object.assign(view, { step: answer.step, labels, strokes: answer.strokes, preview: null, region: null });
  byId("name").textContent = answer.name;
  byId("undo").disabled = answer.actions === 0;
  byId("view").setAttribute("aria-label", `Image ${answer.name}, ${answer.width} by ${answer.height} pixels`);
  folder.images[answer.index].started ||= answer.actions > 0;
  view.redraw();
  document.body.dataset.revision = answer.revision;
}

// Everything: also the alternatives and the question.
async function show(answer) {
  const uris = answer.suggestions.flatMap(one => [one.labels, one.mask]);
  const found = await Promise.all(uris.map(loadedImage));
  const region = answer.question && dismissed !== answer.revision ? await loadedImage(answer.question.mask) : null;
  await showAnswer(answer);
  pictures = answer.suggestions.map((_, k) => ({ labels: found[2 * k], mask: found[2 * k + 1] }));
  view.region = region && striped(region);
  showCards(answer, pictures, view, { choose, look });
  showQuestion(region !== null);
  say(hint(region !== null));
  view.redraw();
}

function showQuestion(isAsked) {
  byId("question").hidden = !isAsked;
  byId("next-key").textContent = isAsked ? "Shift+N" : "n";
  if (isAsked) byId("question-text").textContent = state.question.text;
}

function hint(isAsked) {
  if (state.actions === 0 && state.suggestions.length === 0)
    return "Choose a label and draw over a part of it, or click on it.";
  const saved = state.actions > 0 ? "Saved. " : "";
  if (isAsked) return `${saved}Answer the question, or draw where the colors are wrong.`;
  const choice = state.suggestions.length > 1 ? ", choose a better alternative" : "";
  return `${saved}Draw where the colors are wrong${choice}, or go to the next image.`;
}

function look(k) {
  view.preview = k === null ? null : pictures[k].labels;
  view.mask = k === null ? null : pictures[k].mask;
  view.redraw();
}

// ------------------------------------------------------------------ what a person does

// Choices and answers are about what is shown: while an action is under way it may be replaced.
const isCurrent = () => state && waiting === 0;
const choose = k => isCurrent() && k < state.suggestions.length && act({ kind: "choose", k });
const undo = () => state && act({ kind: "undo" });
const isAsked = () => !byId("question").hidden;
const answerQuestion = yes => isCurrent() && isAsked() && act({ kind: "answer", yes });

function draw(stroke, isClick) {
  view.strokes = [...view.strokes, stroke]; // at once; the answer of the server replaces it
  const [[x, y]] = stroke.points;
  act(isClick ? { kind: "click", x, y, label: stroke.label } : { kind: "stroke", ...stroke });
}

function dismiss() {
  dismissed = state.revision;
  view.region = null;
  showQuestion(false);
  say(hint(false));
  view.redraw();
}

function next(_event, index = state.index) {
  enqueue(async () => {
    folder = await server.markDone(index, true);
    if (folder.next !== null) return open(folder.next);
    showFolder(folder, state.index);
    say("All images are done. Export them, or choose one to look at again.");
  });
}

const download = kind => enqueue(async () => {
  const [name, content] = await server.exported(kind);
  const address = URL.createObjectURL(content);
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  URL.revokeObjectURL(address);
  say(`${name} is saved among your downloads.`);
});

function nextLabel() {
  const inputs = [...document.querySelectorAll("[name=label]")];
  const chosen = inputs[(inputs.findIndex(input => input.checked) + 1) % inputs.length];
  chosen.checked = true;
  check("tool", "draw");
  say(`Label ${folder.labels[Number(chosen.value)].name}.`);
}

function setTool(tool) {
  check("tool", tool);
  byId("view").classList.toggle("move", tool === "move");
}

function moveCross(event, dx, dy) {
  const step = event.shiftKey ? 1 : STEP, [x, y] = view.moveCross(step * dx, step * dy);
  say(`Row ${y}, column ${x}. Space marks this point.`);
}

function mark() {
  const [x, y] = view.cross || view.moveCross(0, 0);
  const erases = checked("tool") === "erase", label = erases ? null : Number(checked("label"));
  draw({ points: [[x, y]], label, radius: Number(byId("radius").value) }, !erases);
}

// ------------------------------------------------------------------ keys

const anywhere = {
  y: () => answerQuestion(true),
  n: event => (isAsked() ? answerQuestion(false) : next(event)),
  N: next, u: undo, d: () => setTool("draw"), e: () => setTool("erase"), m: () => setTool("move"), l: nextLabel,
  0: () => view.fit(), Escape: () => isAsked() && dismiss(),
  1: () => choose(0), 2: () => choose(1), 3: () => choose(2), 4: () => choose(3),
  "+": () => view.zoom(ZOOM), "=": () => view.zoom(ZOOM), "-": () => view.zoom(1 / ZOOM),
};
const onImage = {
  ArrowLeft: event => moveCross(event, -1, 0), ArrowRight: event => moveCross(event, 1, 0),
  ArrowUp: event => moveCross(event, 0, -1), ArrowDown: event => moveCross(event, 0, 1),
  " ": mark,
};

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select") || !state) return;
  const keys = event.target === view.canvas ? { ...anywhere, ...onImage } : anywhere;
  const work = Object.hasOwn(keys, event.key) && keys[event.key];
  if (!work || event.repeat && !event.key.startsWith("Arrow")) return;
  event.preventDefault();
  work(event);
});

// ------------------------------------------------------------------ start

function listen() {
  new Pointers(view, {
    tool: () => checked("tool"), pen: () => Number(byId("radius").value), label: () => Number(checked("label")),
    done: draw,
  });
  byId("undo").addEventListener("click", undo);
  byId("next").addEventListener("click", next);
  byId("yes").addEventListener("click", () => answerQuestion(true));
  byId("no").addEventListener("click", () => answerQuestion(false));
  byId("dismiss").addEventListener("click", dismiss);
  byId("fit").addEventListener("click", () => view.fit());
  byId("zoom-in").addEventListener("click", () => view.zoom(ZOOM));
  byId("zoom-out").addEventListener("click", () => view.zoom(1 / ZOOM));
  byId("opacity").addEventListener("input", event => { view.opacity = event.target.value / 100; view.redraw(); });
  byId("images").addEventListener("change", event => enqueue(() => open(Number(event.target.value))));
  byId("labels").addEventListener("change", () => setTool("draw"));
  for (const input of document.querySelectorAll("[name=tool]"))
    input.addEventListener("change", () => setTool(input.value));
  byId("sets").addEventListener("change", event => {
    place.set("labels", event.target.value);
    location.hash = `${place}`;
    location.reload();
  });
  for (const button of document.querySelectorAll("[data-export]"))
    button.addEventListener("click", () => download(button.dataset.export));
  document.addEventListener("visibilitychange", refresh); // another tab may have changed the image
}

function refresh() {
  if (!document.hidden && state && waiting === 0)
    enqueue(async () => {
      folder = await server.folder();
      await show(await server.image(state.index));
      showFolder(folder, state.index);
    });
}

enqueue(async () => {
  folder = await server.folder();
  view.colors = folder.labels.map(label => label.color);
  showLabels(folder.labels, 1);
  showSets(folder.sets, labelSet);
  listen();
  const wanted = Number(place.get("image") ?? folder.next ?? 0);
  await open(wanted < folder.images.length ? wanted : 0);
  document.body.dataset.ready = "";
});
