"""A headless Chromium for the pages; without one the tests are skipped, with the reason."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


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
