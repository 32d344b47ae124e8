"use strict";
// Shared by all pages.  Numbers come from #facts (JSON), bytes from #planes (base64 of zlib); nothing is loaded.

const facts = JSON.parse(document.getElementById("facts").textContent);
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

async function readPlanes() {
  const text = byId("planes").textContent.trim();
  if (!text) return new Uint8Array(0);
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function decodeImage(uri) {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => resolve(image);
    image.onerror = () => reject(new Error("an image of this page cannot be decoded"));
    image.src = uri;
  });
}

function start(main) { // runs the script of a page; data-ready then holds its milliseconds
  const started = performance.now();
  Promise.resolve()
    .then(main)
    .then(() => { document.body.dataset.ready = String(Math.round(performance.now() - started)); })
    .catch((error) => {
      document.querySelector("main").prepend(element("p", { class: "note", role: "alert" },
        `This browser cannot show the interactive part: ${error.message}.`));
      throw error;
    });
}
