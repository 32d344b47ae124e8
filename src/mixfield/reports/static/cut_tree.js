// The tree of cuts: selecting a node explains it and passes its group of variables to onSelect(runs, mode).

function initCutTree(onSelect, unit) {
  const nodes = document.querySelectorAll("[data-node]");
  const leafName = (mode) => (mode >= 0 ? `mode ${mode + 1}` : "left out, too improbable or too similar to another");
  const childName = (k) => (facts.tree[k].cut ? "cut again" : leafName(facts.tree[k].mode));
  function describeCut(cut, children) {
    const names = cut.group && cut.group.length ? "" : ` (${cut.first.join(", ")}${cut.size > 6 ? ", ..." : ""})`;
    const temperature = cut.temperature === null ? "" : `, selected at temperature ${cut.temperature.toFixed(2)}`;
    return [
      element("p", {}, `Cut by a group of ${cut.size} ${unit}${cut.size > 1 ? "s" : ""}${names} and ` +
        `${cut.labels}${temperature}:`),
      element("ul", {}, ...children.map((child) => element("li", {},
        `${facts.tree[child].side}: ${percent(facts.tree[child].weight)}, ${childName(child)}`))),
    ];
  }
  function explain(node) {
    const { cut, children, mode, log_z: bound, side } = facts.tree[+node.dataset.node];
    const box = byId("cut");
    box.replaceChildren(element("p", {}, element("b", {}, node.querySelector("text").textContent)));
    if (side) box.append(element("p", {}, `This part: ${side}.`));
    if (bound !== null) box.append(element("p", {}, `Bound A = ${bound.toFixed(3)}.`));
    box.append(...(cut ? describeCut(cut, children) : [element("p", {}, `A leaf: ${leafName(mode)}.`)]));
  }
  function select(node) {
    const { cut, mode } = facts.tree[+node.dataset.node];
    for (const other of nodes) other.setAttribute("aria-pressed", String(other === node));
    explain(node);
    onSelect(cut ? cut.group : null, mode);
  }
  if (nodes.length) explain(nodes[0]);
  for (const node of nodes) {
    node.addEventListener("click", () => select(node));
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      select(node);
    });
  }
}
