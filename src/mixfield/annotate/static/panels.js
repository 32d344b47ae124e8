// Lists and cards beside the image.  Names come from files: they are set as text, never as HTML.

const CARD_WIDTH = 280; // pixels

export const byId = id => document.getElementById(id);

export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

export function percent(share) {
  if (share > 0 && share < 0.001) return "< 0.1 %";
  return `${(100 * share).toFixed(share < 0.1 || share > 0.99 ? 1 : 0)} %`;
}

export function showLabels(labels, chosen) {
  const rows = labels.map(({ name, color }, k) => {
    const input = element("input", { type: "radio", name: "label", value: String(k), checked: k === chosen });
    const swatch = element("i", { className: "swatch" });
    swatch.style.background = color;
    return element("label", {}, input, swatch, element("span", { textContent: name }));
  });
  byId("labels").replaceChildren(element("legend", { textContent: "Label" }), ...rows);
}

export function showFolder(folder, index) {
  const done = folder.images.filter(image => image.done).length, count = folder.images.length;
  const options = folder.images.map(({ name, done, started }, k) => {
    const mark = done ? "✓ " : started ? "… " : "";
    return element("option", { value: String(k), textContent: mark + name, selected: k === index });
  });
  byId("images").replaceChildren(...options);
  Object.assign(byId("progress"), { max: count, value: done });
  byId("progress-text").textContent = `${done} of ${count} done`;
  byId("sets-label").hidden = folder.sets.length < 2;
}

export function showSets(titles, chosen) {
  byId("sets").replaceChildren(...titles.map((title, k) =>
    element("option", { value: String(k), textContent: title, selected: k === chosen })));
}

// Cards of the alternatives; look(k) previews one, look(null) ends it.
export function showCards(state, pictures, view, { choose, look }) {
  const cards = state.suggestions.map((one, k) => {
    const { weight, differs, shown } = one, number = k + 1;
    const share = k === 0 ? "first answer" : `${percent(differs)} of the pixels differ`;
    const canvas = thumbnail(view, pictures[k]);
    const title = element("span", {}, element("kbd", { textContent: String(number) }), " ",
      element("b", { textContent: `weight ${percent(weight)}` }));
    const card = element("button", { type: "button", className: "card" }, canvas, title,
      element("small", { textContent: share }));
    card.setAttribute("aria-pressed", String(shown));
    card.setAttribute("aria-label", `Alternative ${number}: weight ${percent(weight)}, ${share}`);
    card.addEventListener("click", () => choose(k));
    for (const begin of ["pointerenter", "focus"]) card.addEventListener(begin, () => look(k));
    for (const end of ["pointerleave", "blur"]) card.addEventListener(end, () => look(null));
    return card;
  });
  const focused = [...byId("cards").children].indexOf(document.activeElement);
  byId("cards").replaceChildren(...cards);
  byId("alternatives").hidden = cards.length === 0;
  if (focused >= 0 && cards[focused]) cards[focused].focus({ preventScroll: true });
}

function thumbnail(view, { labels, mask }) {
  const height = Math.max(1, Math.round(CARD_WIDTH * view.height / view.width));
  const canvas = element("canvas", { width: CARD_WIDTH, height: Math.min(height, 2 * CARD_WIDTH) });
  const context = canvas.getContext("2d"), scale = Math.min(CARD_WIDTH / view.width, canvas.height / view.height);
  context.scale(scale, scale);
  context.drawImage(view.picture, 0, 0, view.width, view.height);
  context.globalAlpha = 0.55;
  context.drawImage(labels, 0, 0, labels.width * view.step, labels.height * view.step);
  context.globalAlpha = 0.85;
  context.drawImage(mask, 0, 0, mask.width * view.step, mask.height * view.step);
  return canvas;
}
