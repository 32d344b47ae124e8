// Pages of sequences, one mode per frame: time slider, trellis of modes, buttons of the modes of a frame.

function initPlayer(frames, showFrame) { // slider and play button; returns a function that goes to a frame
  const slider = byId("time"), play = byId("play");
  let timer = null;
  const announce = (how) => byId("status").setAttribute("aria-live", how); // a screen reader would never stop
  const stop = () => {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
    play.setAttribute("aria-pressed", "false");
    announce("polite");
  };
  slider.addEventListener("input", () => showFrame(+slider.value));
  play.addEventListener("click", () => {
    if (timer) return stop();
    play.textContent = "Stop";
    play.setAttribute("aria-pressed", "true");
    announce("off");
    timer = setInterval(() => {
      slider.value = (+slider.value + 1) % frames;
      showFrame(+slider.value);
    }, facts.interval);
    return undefined;
  });
  return (frame) => { slider.value = frame; showFrame(frame); };
}

function initTrellis(frames, select) { // a column per frame, a circle per mode, a line through the chosen modes
  const most = Math.max(...frames.map((f) => f.weights.length)), gapX = frames.length > 120 ? 12 : 20, gapY = 22;
  const left = 58, width = left + frames.length * gapX + 10, height = most * gapY + 26, last = frames.length - 1;
  const at = (t, k) => [left + (t + 0.5) * gapX, 14 + k * gapY];
  const svg = element("svg", { class: "trellis", width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": "the chosen mode of each frame" });
  const cursor = element("rect", { x: 0, y: 0, width: gapX, height: most * gapY + 6 });
  svg.append(cursor);
  for (let k = 0; k < most; k++) svg.append(element("text", { x: 0, y: at(0, k)[1] + 4 }, `mode ${k + 1}`));
  for (let t = 1; t < frames.length; t++) {
    const [x1, y1] = at(t - 1, frames[t - 1].chosen), [x2, y2] = at(t, frames[t].chosen);
    svg.append(element("line", { x1, y1, x2, y2 }));
  }
  frames.forEach((frame, t) => {
    frame.weights.forEach((weight, k) => {
      const [cx, cy] = at(t, k), circle = element("circle", { cx, cy, r: 3 + (gapX / 2 - 4) * Math.sqrt(weight),
        class: k === frame.chosen ? "chosen" : "", "data-frame": t, "data-mode": k },
      element("title", {}, `frame ${frame.number}, mode ${k + 1}: ${percent(weight)}`));
      circle.addEventListener("click", () => select(t, k));
      svg.append(circle);
    });
    if (t === last || (t % 10 === 0 && (t === 0 || last - t > 2))) {
      svg.append(element("text", { x: at(t, 0)[0] - 6, y: height - 4 }, String(frame.number)));
    }
  });
  byId("trellis").append(svg);
  return (t) => { // marks a frame and scrolls to it
    const box = byId("trellis"), x = at(t, 0)[0];
    cursor.setAttribute("x", x - gapX / 2);
    if (x < box.scrollLeft + left || x > box.scrollLeft + box.clientWidth - 20) box.scrollLeft = x - box.clientWidth / 2;
  };
}

function showModeButtons(frame, current, choose) {
  const box = byId("frame-modes"), focused = box.contains(document.activeElement); // new buttons lose the focus
  box.replaceChildren(...frame.weights.map((weight, k) => {
    const button = element("button", { type: "button", "aria-pressed": String(k === current), "data-choice": k },
      `mode ${k + 1}: ${percent(weight)}${k === frame.chosen ? " (chosen)" : ""}`);
    button.addEventListener("click", () => choose(k));
    return button;
  }));
  if (focused) box.children[current].focus();
  byId("time").setAttribute("aria-valuetext", `frame ${frame.number}`);
}

function initSequence(frames, showMode) { // showMode(t, k) draws mode k of frame t and returns the text about it
  let time = 0, mode = frames[0].chosen;
  function draw() {
    byId("status").textContent = showMode(time, mode);
    showModeButtons(frames[time], mode, (k) => { mode = k; draw(); });
    markFrame(time);
  }
  const goTo = initPlayer(frames.length, (t) => { time = t; mode = frames[t].chosen; draw(); });
  const markFrame = initTrellis(frames, (t, k) => { goTo(t); mode = k; draw(); });
  goTo(0);
}
