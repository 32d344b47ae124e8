// A segmented video: the chosen mode beside mean field.

start(() => {
  const { frames } = facts;
  initSequence(frames, (t, mode) => {
    const frame = frames[t], isChosen = mode === frame.chosen;
    for (const photo of document.querySelectorAll("img.photo")) photo.src = frame.photo;
    byId("chosen").src = frame.modes[mode];
    byId("single").src = frame.single;
    byId("chosen-title").textContent = `mode ${mode + 1}, ${percent(frame.weights[mode])}` +
      (isChosen ? ", chosen" : ", not chosen");
    return `Frame ${frame.number}: mode ${frame.chosen + 1} chosen (${percent(frame.weights[frame.chosen])}); ` +
      `${isChosen ? "it" : `mode ${mode + 1}`} differs from mean field in ${percent(frame.differs[mode])} of the pixels` +
      (frame.cost === null ? "." : `; step cost ${frame.cost.toFixed(2)}.`);
  });
  byId("opacity").addEventListener("input", (event) => {
    for (const over of document.querySelectorAll("img.over")) over.style.opacity = event.target.value / 100;
  });
});
