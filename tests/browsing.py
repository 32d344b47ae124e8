"""A headless Chromium for the pages; without one the tests are skipped, with the reason."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")

# what is wrong with a page: controls without a name, contrast, scrolling sideways, ids that are used twice
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


@pytest.fixture(scope="session")
def browser():
    """One browser for all tests of a process."""
    api = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install 'mixfield[browser]'")
    program = os.environ.get("MIXFIELD_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("no browser: install chromium, or set MIXFIELD_BROWSER to one")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield running
        running.close()


@dataclass
class Opened:
    """A page with what went wrong in it and what it asked of the network."""

    page: Any
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture
def open_page(browser, tmp_path):
    """Opens the text of a page; afterwards nothing may have gone wrong and nothing may have been asked for."""
    opened = []

    def show(text: str, *, width: int = 1200, dark: bool = False, wait: bool = True) -> Any:
        file = Path(tmp_path) / f"page{len(opened)}.html"
        file.write_text(text, encoding="utf-8")
        scheme = "dark" if dark else "light"
        page = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme).new_page()
        one = Opened(page)
        page.on("console", lambda message: one.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: one.errors.append(str(error)))
        page.on("request", lambda request: one.requests.append(request.url))
        page.goto(file.as_uri())
        if wait:
            page.wait_for_selector("body[data-ready]", timeout=60_000)
        opened.append(one)
        return page

    yield show
    for one in opened:
        assert one.errors == []
        assert [url for url in one.requests if not url.startswith(("file:", "data:", "blob:"))] == []
        one.page.context.close()
