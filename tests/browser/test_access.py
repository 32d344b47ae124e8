"""What every page owes its readers: names for every control, contrast, no sideways scrolling, unique ids."""

from __future__ import annotations

import page_examples as pages
import pytest
from browsing import AUDIT

PAGES = {
    "segmentation": lambda: pages.segmentation()[0],
    "calibrated": lambda: pages.calibrated_segmentation()[0],
    "field": lambda: pages.field()[0],
    "people": lambda: pages.people()[0],
    "video": lambda: pages.video()[0],
}


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
