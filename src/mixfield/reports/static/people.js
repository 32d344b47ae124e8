// People on a ground plane: boxes on the cameras, the ground from above with people and tracks.

start(() => {
  const { frames, cameras, ground, tracks } = facts, floor = byId("ground"), cell = ground.cell, TAIL = 25;
  const trackColor = (identity) => `hsl(${(identity * 137.5) % 360} 70% 45%)`; // golden angle: neighbours differ
  function trackShapes([identity, first, positions], t) { // the last steps of a track and a circle at its end
    const i = t - first;
    if (i < 0 || i >= positions.length) return [];
    const points = positions.slice(Math.max(0, i - TAIL), i + 1).map((p) => p[0] + "," + p[1]).join(" ");
    const [x, y, confidence] = positions[i], color = trackColor(identity);
    return [
      element("polyline", { points, fill: "none", stroke: color, "stroke-width": cell / 3, opacity: 0.6 }),
      element("circle", { cx: x, cy: y, r: cell * 0.75, stroke: color, "stroke-width": cell / 5,
        fill: confidence >= 0.5 ? color : "none", class: "track" }),
    ];
  }
  function drawGround(t, mode) { // returns the number of tracks in the frame
    const shapes = tracks.flatMap((track) => trackShapes(track, t));
    const [x, y, width, height] = ground.interest;
    floor.replaceChildren(
      element("rect", { class: "floor", x, y, width, height, "stroke-width": cell / 6 }),
      ...shapes,
      ...(frames[t].people[mode] || []).map(([px, py, inAll]) => element("rect", { x: px - cell / 2, y: py - cell / 2,
        width: cell, height: cell, "stroke-width": cell / 12, class: inAll ? "person in-all" : "person" })),
    );
    return shapes.length / 2;
  }
  function drawCameras(frame, mode) {
    cameras.forEach((camera, c) => {
      if (frame.pictures[c]) byId(`camera-${c}`).src = frame.pictures[c];
      const boxes = (frame.boxes[mode] || []).filter(([view]) => view === c);
      byId(`boxes-${c}`).replaceChildren(...boxes.map(([, x0, y0, x1, y1, inAll]) => element("rect", { x: x0, y: y0,
        width: x1 - x0, height: y1 - y0, "stroke-width": camera.width / 120, class: inAll ? "box in-all" : "box" })));
    });
  }
  initSequence(frames, (t, mode) => {
    const frame = frames[t], tracked = drawGround(t, mode), count = (frame.people[mode] || []).length;
    drawCameras(frame, mode);
    if (!frame.people.length) return `Frame ${frame.number}: ${tracked} on a track.`; // a page of tracks alone
    return `Frame ${frame.number}: mode ${mode + 1} (${percent(frame.weights[mode])}) has ` +
      `${count} ${count === 1 ? "person" : "people"}` + (tracks.length ? `; ${tracked} on a track.` : ".");
  });
});
