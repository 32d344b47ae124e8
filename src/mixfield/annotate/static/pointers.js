// Mouse, pen and fingers on the image: one draws, two move and zoom.

const CLICK = 4; // CSS pixels that a click may move
const ERASER = 32; // bit of the buttons of a pen

export class Pointers {
  // tool() is "draw", "erase" or "move"; pen() the radius in pixels; label() its number; done(stroke, isClick).
  constructor(view, { tool, pen, label, done }) {
    Object.assign(this, { view, tool, pen, label, done });
    this.down = new Map(); // places by number of the pointer
    this.moving = false;
    const { canvas } = view;
    canvas.addEventListener("pointerdown", event => this.begin(event));
    canvas.addEventListener("pointermove", event => this.follow(event));
    canvas.addEventListener("pointerup", event => this.end(event));
    canvas.addEventListener("pointercancel", event => this.cancel(event));
    canvas.addEventListener("contextmenu", event => event.preventDefault());
    canvas.addEventListener("wheel", event => {
      event.preventDefault();
      view.zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
    }, { passive: false });
  }

  begin(event) {
    if (!this.view.picture) return;
    event.preventDefault();
    this.view.canvas.focus({ preventScroll: true });
    this.view.canvas.setPointerCapture(event.pointerId);
    this.down.set(event.pointerId, [event.offsetX, event.offsetY]);
    this.view.cross = null;
    if (this.down.size > 1 || event.button === 1 || this.tool() === "move") {
      this.moving = true;
      this.view.current = null;
    } else if (event.button !== 2) {
      const erases = this.tool() === "erase" || (event.buttons & ERASER) !== 0;
      const points = [this.view.pixelAt(event.offsetX, event.offsetY)];
      this.view.current = { points, label: erases ? null : this.label(), radius: this.pen() };
      this.start = [event.offsetX, event.offsetY];
    }
    this.view.redraw();
  }

  follow(event) {
    const before = this.down.get(event.pointerId);
    if (!before) return;
    const now = [event.offsetX, event.offsetY];
    if (this.moving) this.pinch(event.pointerId, before, now);
    else if (this.view.current) this.extend(event);
    this.down.set(event.pointerId, now);
    this.view.redraw();
  }

  extend(event) {
    const box = this.view.canvas.getBoundingClientRect();
    const events = event.getCoalescedEvents ? event.getCoalescedEvents() : [];
    for (const one of events.length ? events : [event])
      this.view.current.points.push(this.view.pixelAt(one.clientX - box.left, one.clientY - box.top));
  }

  pinch(id, before, now) {
    const other = [...this.down].find(([number]) => number !== id);
    if (!other) {
      this.view.move(now[0] - before[0], now[1] - before[1]);
      return;
    }
    const [x, y] = other[1], apart = point => Math.max(1, Math.hypot(point[0] - x, point[1] - y));
    this.view.move((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
    this.view.zoom(apart(now) / apart(before), (now[0] + x) / 2, (now[1] + y) / 2);
  }

  end(event) {
    if (!this.down.delete(event.pointerId)) return;
    const stroke = this.view.current;
    if (stroke && !this.moving) {
      const far = Math.hypot(event.offsetX - this.start[0], event.offsetY - this.start[1]) > CLICK;
      const isClick = !far && stroke.label !== null && stroke.points.length < 4;
      this.view.current = null;
      this.done(stroke, isClick);
    }
    if (this.down.size === 0) this.moving = false;
    this.view.redraw();
  }

  cancel(event) {
    this.down.delete(event.pointerId);
    this.view.current = null;
    if (this.down.size === 0) this.moving = false;
    this.view.redraw();
  }
}
