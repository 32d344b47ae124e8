// The image with its layers: labels, differences, the region of the question, strokes, the cross of the keyboard.

const CASING = 2; // white pixels around a stroke
const LARGEST_ZOOM = 40; // screen pixels a pixel

export class View {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.layer = document.createElement("canvas"); // of the strokes: erasing must not touch the image
    this.picture = this.labels = this.preview = this.mask = this.region = null;
    this.strokes = [];
    this.colors = [];
    this.current = null; // the stroke under way
    this.cross = null;
    this.opacity = 0.5;
    this.scale = 1;
    this.left = this.top = 0; // of the image, in CSS pixels
    new ResizeObserver(() => this.fit()).observe(canvas);
  }

  // ---------------------------------------------------------------- where things are

  fit() {
    if (!this.picture) return;
    const { clientWidth, clientHeight } = this.canvas;
    this.scale = Math.min(clientWidth / this.width, clientHeight / this.height);
    this.left = (clientWidth - this.scale * this.width) / 2;
    this.top = (clientHeight - this.scale * this.height) / 2;
    this.smallest = this.scale / 2;
    this.redraw();
  }

  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const scale = Math.min(LARGEST_ZOOM, Math.max(this.smallest, this.scale * factor));
    this.left = x - (x - this.left) * scale / this.scale;
    this.top = y - (y - this.top) * scale / this.scale;
    this.scale = scale;
    this.redraw();
  }

  move(dx, dy) {
    this.left += dx;
    this.top += dy;
    this.redraw();
  }

  // Pixels of the image, whose centres have whole numbers, of a point of the canvas.
  pixelAt(x, y) {
    return [(x - this.left) / this.scale - 0.5, (y - this.top) / this.scale - 0.5];
  }

  // Show the cross of the keyboard, moved by some pixels, and keep it on the screen.
  moveCross(dx, dy) {
    const [x, y] = this.cross || [Math.floor(this.width / 2), Math.floor(this.height / 2)];
    const inside = (value, size) => Math.max(0, Math.min(size - 1, value));
    this.cross = [inside(x + dx, this.width), inside(y + dy, this.height)];
    const { clientWidth, clientHeight } = this.canvas;
    const px = this.left + (this.cross[0] + 0.5) * this.scale, py = this.top + (this.cross[1] + 0.5) * this.scale;
    this.move(inside(px, clientWidth) - px, inside(py, clientHeight) - py);
    return this.cross;
  }

  // ---------------------------------------------------------------- drawing

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      if (this.picture) this.draw();
    });
  }

  draw() {
    const { canvas, context } = this, ratio = window.devicePixelRatio || 1;
    const width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio);
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, width, height);
    this.place(context, ratio);
    context.imageSmoothingEnabled = this.scale * ratio < 3;
    context.drawImage(this.picture, 0, 0, this.width, this.height);
    this.overlay(this.preview || this.labels, this.opacity);
    this.overlay(this.preview ? this.mask : null, 0.75);
    this.overlay(this.preview ? null : this.region, 0.7);
    this.drawStrokes(ratio);
    if (this.cross) this.drawCross();
  }

  place(context, ratio) {
    context.setTransform(this.scale * ratio, 0, 0, this.scale * ratio, this.left * ratio, this.top * ratio);
  }

  overlay(image, opacity) {
    if (!image) return;
    this.context.save();
    this.context.imageSmoothingEnabled = false;
    this.context.globalAlpha = opacity;
    this.context.drawImage(image, 0, 0, image.width * this.step, image.height * this.step);
    this.context.restore();
  }

  drawStrokes(ratio) {
    const { layer, canvas } = this, context = layer.getContext("2d");
    Object.assign(layer, { width: canvas.width, height: canvas.height });
    this.place(context, ratio);
    context.lineCap = context.lineJoin = "round";
    for (const stroke of this.current ? [...this.strokes, this.current] : this.strokes) {
      const erases = stroke.label === null || stroke.label < 0;
      context.globalCompositeOperation = erases ? "destination-out" : "source-over";
      if (!erases) trace(context, stroke, CASING / this.scale, "#ffffff");
      trace(context, stroke, erases ? CASING / this.scale : 0, erases ? "#000000" : this.colors[stroke.label]);
    }
    this.context.setTransform(1, 0, 0, 1, 0, 0);
    this.context.drawImage(layer, 0, 0);
    if (this.current && this.current.label === null) this.showEraser(ratio);
  }

  showEraser(ratio) {
    this.place(this.context, ratio);
    this.context.lineCap = this.context.lineJoin = "round";
    trace(this.context, this.current, 0, "#ffffff88");
  }

  drawCross() {
    const { context } = this, size = 9 / this.scale;
    this.place(context, window.devicePixelRatio || 1);
    const [x, y] = [this.cross[0] + 0.5, this.cross[1] + 0.5];
    for (const [color, width] of [["#ffffff", 4], ["#d0006f", 2]]) {
      context.strokeStyle = color;
      context.lineWidth = width / this.scale;
      context.beginPath();
      context.moveTo(x - size, y);
      context.lineTo(x + size, y);
      context.moveTo(x, y - size);
      context.lineTo(x, y + size);
      context.stroke();
    }
  }
}

// A mask with diagonal lines, which no label has.
export function striped(mask) {
  const canvas = Object.assign(document.createElement("canvas"), { width: mask.width, height: mask.height });
  const context = canvas.getContext("2d"), period = Math.max(6, Math.round(Math.max(mask.width, mask.height) / 50));
  context.drawImage(mask, 0, 0);
  context.globalCompositeOperation = "source-atop";
  context.strokeStyle = "#10131a";
  context.lineWidth = period / 4;
  for (let x = -mask.height; x < mask.width; x += period) {
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x + mask.height, mask.height);
    context.stroke();
  }
  return canvas;
}

function trace(context, stroke, extra, color) {
  context.strokeStyle = color;
  context.lineWidth = 2 * (stroke.radius + extra);
  context.beginPath();
  const [[x, y], ...rest] = stroke.points;
  context.moveTo(x + 0.5, y + 0.5);
  context.lineTo(x + 0.501, y + 0.5); // lines without length are not drawn, and a click is one
  for (const [a, b] of rest) context.lineTo(a + 0.5, b + 0.5);
  context.stroke();
}
