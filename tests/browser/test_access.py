"""What every page owes its readers: names for every control, contrast, no sideways scrolling, unique ids."""

from __future__ import annotations

import page_examples as pages
import pytest

PAGES = {
    "segmentation": lambda: pages.segmentation()[0],
    "calibrated": lambda: pages.calibrated_segmentation()[0],
    "field": lambda: pages.field()[0],
    "people": lambda: pages.people()[0],
    "video": lambda: pages.video()[0],
}

AUDIT = """() => {
  const wrong = [], ids = [...document.querySelectorAll("[id]")].map(e => e.id);
  const named = e => e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.textContent.trim() ||
    (e.labels && e.labels.length && e.labels[0].textContent.trim());
  if (new Set(ids).size !== ids.length) wrong.push("an id is used twice");
  if (!document.documentElement.lang || !document.title) wrong.push("no language or title");
  if (document.querySelectorAll("h1").length !== 1) wrong.push("not one h1");
  for (const e of document.querySelectorAll("button, a[href], select, input, [role=button], [role=img], [role=region]"))
    if (!named(e)) wrong.push("no name: " + e.outerHTML.slice(0, 80));
  for (const e of document.querySelectorAll("img")) if (!e.alt) wrong.push("no alt: " + e.outerHTML.slice(0, 60));
  for (const e of document.querySelectorAll("table"))
    if (!e.hidden && !e.caption && !named(e)) wrong.push("a table without caption");
  for (const e of document.querySelectorAll("[aria-labelledby], [aria-describedby]"))
    for (const id of (e.getAttribute("aria-labelledby") || e.getAttribute("aria-describedby")).split(" "))
      if (!document.getElementById(id)) wrong.push("points at nothing: " + id);
  if (document.documentElement.scrollWidth > innerWidth) wrong.push("scrolls sideways");
  const parse = c => (c.match(/[0-9.]+/g) || []).map(Number);
  const linear = v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = c => { const [r, g, b] = c.map(v => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = e => { for (let n = e; n; n = n.parentElement) { const c = parse(getComputedStyle(n).backgroundColor);
    if (c.length === 3 || (c.length === 4 && c[3] === 1)) return c; } return [255, 255, 255]; };
  const texts = "p, th, td, caption, small, label, a, b, h1, h2, legend, button, footer, figcaption";
  for (const e of document.querySelectorAll(texts)) {
    if (!e.textContent.trim() || !e.offsetParent || e.classList.contains("skip")) continue;
    const a = light(parse(getComputedStyle(e).color)), b = light(behind(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) wrong.push(`contrast ${ratio.toFixed(2)}: ` + e.textContent.trim().slice(0, 40));
  }
  return wrong;
}"""


@pytest.fixture(scope="module", params=PAGES)
def text(request):
    return PAGES[request.param]()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390], ids=["desk", "phone"])
def test_audit(open_page, text, width, dark):
    assert open_page(text, width=width, dark=dark).evaluate(AUDIT) == []


def test_every_control_is_reached_by_tab(open_page, text):
    page = open_page(text)
    reached = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.tagName + (document.activeElement.id || '')"))
    kind = page.locator("body").get_attribute("data-kind")
    wanted = {"segmentation": {"CANVASview", "INPUTopacity"}, "field": {"INPUTsearch"}}.get(
        kind, {"INPUTtime", "BUTTONplay"}
    )
    assert wanted <= reached


def test_without_script_the_tables_are_there(browser, text, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(text, encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    assert "JavaScript, which is switched off" in page.locator("main").inner_text()
    assert page.locator("h1").inner_text()
    context.close()
