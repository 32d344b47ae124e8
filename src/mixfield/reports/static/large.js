// A large image in tiles: drag to move, wheel or + and - to magnify, a row of the table to see its question.

start(async () => {
  const canvas = byId("view"), context = canvas.getContext("2d");
  const [height, width] = facts.shape, images = new Map();
  const fit = Math.min(canvas.width / width, canvas.height / height);
  let scale = fit, x = width / 2, y = height / 2, framed = -1; // screen pixels per pixel; the centre of the view

  function tile(level, row, column) { // an image, or null while it is loaded
    const key = `${level}/${row}_${column}`;
    if (!images.has(key)) {
      const source = typeof facts.tiles === "string" ? `${facts.tiles}/${key}.png` : facts.tiles[key];
      images.set(key, null);
      if (source) decodeImage(source).then((image) => { images.set(key, image); draw(); }, () => {});
    }
    return images.get(key);
  }

  function draw() {
    context.clearRect(0, 0, canvas.width, canvas.height);
    const wanted = facts.levels - 1 + Math.ceil(Math.log2(scale * facts.step));
    const finest = Math.max(0, Math.min(facts.levels - 1, wanted));
    for (let level = 0; level <= finest; level += Math.max(1, finest)) drawLevel(level); // the coarsest below
    frame();
  }

  function drawLevel(level) {
    const step = facts.step * 2 ** (facts.levels - 1 - level), size = step * facts.tile; // pixels of a tile
    const left = x - canvas.width / 2 / scale, top = y - canvas.height / 2 / scale;
    const last = (edge, length) => Math.min(Math.ceil(length / size) - 1, Math.floor(edge / size));
    for (let row = Math.max(0, Math.floor(top / size)); row <= last(top + canvas.height / scale, height); row++)
      for (let column = Math.max(0, Math.floor(left / size)); column <= last(left + canvas.width / scale, width); column++) {
        const image = tile(level, row, column);
        if (image) context.drawImage(image, (column * size - left) * scale, (row * size - top) * scale,
          image.width * step * scale, image.height * step * scale);
      }
  }

  function frame() {
    if (framed < 0) return;
    const [[top, left], [bottom, right]] = facts.questions[framed];
    context.strokeStyle = "#ff3b30";
    context.lineWidth = 3;
    context.strokeRect((left - x) * scale + canvas.width / 2, (top - y) * scale + canvas.height / 2,
      (right - left) * scale, (bottom - top) * scale);
  }

  function magnify(factor) {
    scale = Math.max(fit / 2, Math.min(8, scale * factor));
    draw();
  }

  function show(question) {
    const [[top, left], [bottom, right]] = facts.questions[question];
    framed = question;
    [x, y] = [(left + right) / 2, (top + bottom) / 2];
    scale = Math.min(8, 0.6 * Math.min(canvas.width / (right - left), canvas.height / (bottom - top)));
    draw();
  }

  canvas.addEventListener("wheel", (event) => { event.preventDefault(); magnify(event.deltaY < 0 ? 1.25 : 0.8); });
  canvas.addEventListener("pointermove", (event) => {
    if (!event.buttons) return;
    const ratio = canvas.width / canvas.clientWidth / scale;
    [x, y] = [x - event.movementX * ratio, y - event.movementY * ratio];
    draw();
  });
  canvas.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (moves) [x, y] = [x + moves[0] * 100 / scale, y + moves[1] * 100 / scale];
    else if (event.key === "+" || event.key === "-") return magnify(event.key === "+" ? 1.25 : 0.8);
    else return;
    event.preventDefault();
    draw();
  });
  document.querySelectorAll("tbody tr").forEach((row, question) => row.addEventListener("click", () => show(question)));
  draw();
});
