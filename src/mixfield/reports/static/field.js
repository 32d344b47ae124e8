// A field of variables: a table that can be searched, and the tree of cuts.

start(() => {
  const rows = [...document.querySelectorAll("#variables tbody tr")], search = byId("search");
  function filterRows() {
    const words = search.value.trim().toLowerCase();
    let count = 0;
    for (const row of rows) {
      row.hidden = words !== "" && !row.dataset.name.includes(words);
      count += !row.hidden;
    }
    byId("found").textContent = `${count} of ${rows.length} variables`;
  }
  if (search) search.addEventListener("input", filterRows);
  initCutTree((runs) => {
    const group = new Set();
    for (let r = 0; runs && r < runs.length; r += 2) for (let i = 0; i < runs[r + 1]; i++) group.add(runs[r] + i);
    for (const row of rows) row.classList.toggle("in-group", group.has(+row.dataset.variable));
  }, "variable");
});
