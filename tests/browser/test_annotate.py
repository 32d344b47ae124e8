"""The page of ``mixfield annotate`` in a browser: strokes, choices, answers, keys, two tabs, a killed server."""

from __future__ import annotations

import base64
import functools
import http.server
import io
import json
import subprocess
import sys
import threading
import zipfile

import numpy as np
import pytest
from annotating import doubtful_click, photograph, write_images
from browsing import AUDIT
from PIL import Image

import mixfield as mf

HOSTILE = "<img src=x onerror=document.title='run'>"
PATIENCE = 120_000  # milliseconds, for the compiler


class Session:
    """A server with its folder, and pages on it."""

    def __init__(self, browser, folder):
        self.browser, self.folder, self.errors, self.contexts = browser, folder, [], []
        self.photos, self.saved = folder / "photos", folder / "photos" / "annotations" / "names"

    def start(self, *options):
        words = ["annotate", str(self.photos), "--labels", str(self.folder / "names.txt"), "--no-open", "--json"]
        words += map(str, options)
        self.process = subprocess.Popen([sys.executable, "-m", "mixfield", *words], stdout=subprocess.PIPE, text=True)
        self.address = json.loads(self.process.stdout.readline())["address"]
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def close(self):
        for context in self.contexts:
            context.close()
        self.kill()

    def page(self, *, width=1200, dark=False, touch=False, image="a.png"):
        scheme = "dark" if dark else "light"
        context = self.browser.new_context(
            viewport={"width": width, "height": 844}, color_scheme=scheme, has_touch=touch
        )
        self.contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.errors.append(request.url) if self.is_foreign(request.url) else None)
        page.goto(f"{self.address}#image={self.index(image)}")
        page.wait_for_selector("body[data-ready]", timeout=PATIENCE)
        return page

    def index(self, name):
        return sorted(file.name for file in self.photos.glob("*.png")).index(name)

    def is_foreign(self, url):
        return not url.startswith((self.address, "data:", "blob:"))

    def actions(self, name="a.png"):
        """What is saved."""
        return json.loads((self.saved / f"{name}.json").read_text())["actions"]


@pytest.fixture(scope="module")
def served(browser, tmp_path_factory):
    """One server for all tests but the last: each test has an image of its own."""
    folder = tmp_path_factory.mktemp("annotate")
    names = [f"{letter}.png" for letter in "abcdefghij"] + [f"{HOSTILE}.png"]
    write_images(folder / "photos", names)
    (folder / "names.txt").write_text(f"background\n{HOSTILE}\n")
    session = Session(browser, folder).start()
    yield session
    session.close()
    assert session.errors == []


def idle(page):
    """Wait for the answers of the server."""
    page.wait_for_selector("body[data-waiting='0']", timeout=PATIENCE)


def on_screen(page, x, y):
    """Where a pixel of the image is: the whole image is shown in the middle of the canvas."""
    box = page.locator("#view").bounding_box()
    scale = min(box["width"], box["height"]) / 128
    left, top = box["x"] + (box["width"] - 128 * scale) / 2, box["y"] + (box["height"] - 128 * scale) / 2
    return left + (x + 0.5) * scale, top + (y + 0.5) * scale


def click(page, x, y):
    page.mouse.click(*on_screen(page, x, y))
    idle(page)


def drag(page, *points):
    page.mouse.move(*on_screen(page, *points[0]))
    page.mouse.down()
    for point in points[1:]:
        page.mouse.move(*on_screen(page, *point), steps=4)
    page.mouse.up()
    idle(page)


def drawn(page):
    """What the canvas shows now, as a number."""
    return page.evaluate(
        """() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {
          const c = document.getElementById("view"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
          let h = 7; for (const v of d) h = (h * 31 + v) % 2147483647; done(h); })))"""
    )


def test_draw_choose_answer_undo_reload_export(served):
    page = served.page(image="a.png")
    assert "draw over a part of it" in page.locator("#hint").inner_text()
    blank = drawn(page)
    click(page, *doubtful_click())
    assert drawn(page) != blank
    (stroke,) = served.actions()
    np.testing.assert_allclose(stroke["stroke"], [doubtful_click()], atol=0.6)
    cards = page.locator(".card")
    assert cards.count() > 1
    before = drawn(page)
    cards.nth(1).hover()
    assert drawn(page) != before  # the pixels that differ
    cards.nth(1).click()
    idle(page)
    assert "choice" in served.actions()[-1]
    page.locator("#undo").click()
    idle(page)
    page.mouse.move(0, 0)
    assert drawn(page) == before
    assert "Is the marked region" in page.locator("#question-text").inner_text()
    page.locator("#yes").click()
    idle(page)
    assert "answer" in served.actions()[-1]
    page.get_by_role("radio", name="background").check()
    drag(page, (3, 4), (30, 4), (30, 20))
    assert served.actions()[-1]["label"] == 0
    assert len(served.actions()[-1]["stroke"]) > 5
    page.get_by_label("Erase").check()
    drag(page, (25, 4), (30, 4))
    assert served.actions()[-1]["label"] == -1
    page.mouse.move(0, 0)
    page.locator("#view").blur()
    before = drawn(page)
    page.reload()
    page.wait_for_selector("body[data-ready]", timeout=PATIENCE)
    assert drawn(page) == before
    assert page.locator("#name").inner_text() == "a.png"
    page.get_by_text("Export what is annotated").click()
    with page.expect_download(timeout=PATIENCE) as waiting:
        page.get_by_role("button", name="Label maps").click()
    with zipfile.ZipFile(waiting.value.path()) as archive, archive.open("a.png") as file:
        exported = np.asarray(Image.open(file))
    saved = mf.Annotation.load(served.saved / "a.png.json", photograph())
    np.testing.assert_array_equal(exported, saved.labels())


def test_the_keyboard_alone(served):
    page = served.page(image="b.png")
    for _ in range(6):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "view":
            break
    assert page.evaluate("document.activeElement.id") == "view"
    x, y = doubtful_click()
    page.keyboard.press("ArrowUp")  # 64, 54
    for key, count in (("ArrowRight", x - 64), ("ArrowLeft", 64 - x), ("ArrowDown", y - 54), ("ArrowUp", 54 - y)):
        for _ in range(max(count, 0)):
            page.keyboard.press(f"Shift+{key}")
    assert f"Row {y}, column {x}" in page.locator("#hint").inner_text()
    page.keyboard.press("Space")
    idle(page)
    assert served.actions("b.png")[0]["stroke"] == [[x, y]]
    page.keyboard.press("2")
    idle(page)
    assert "choice" in served.actions("b.png")[-1]
    page.keyboard.press("u")
    idle(page)
    assert len(served.actions("b.png")) == 1
    page.keyboard.press("n")  # no, to the question
    idle(page)
    assert "answer" in served.actions("b.png")[-1]
    page.keyboard.press("l")
    assert page.locator("[name=label]:checked").get_attribute("value") == "0"
    page.keyboard.press("Shift+N")
    idle(page)
    assert page.locator("#name").inner_text() != "b.png"
    assert "1 of 11 done" in page.locator("#progress-text").inner_text()
    page.keyboard.press("n")  # next, as nothing is asked of an image without strokes
    idle(page)
    assert "2 of 11 done" in page.locator("#progress-text").inner_text()


def test_actions_wait_for_each_other(served):
    page = served.page(image="g.png")
    for place in (doubtful_click(), (5, 5), (120, 5)):
        page.mouse.click(*on_screen(page, *place))
    page.keyboard.press("2")  # of alternatives that are not there yet
    page.keyboard.press("u")
    page.locator("#images").select_option(label="h.png")
    page.mouse.click(*on_screen(page, 50, 50))  # g.png is still shown
    idle(page)
    places = [action["stroke"][0] for action in served.actions("g.png")]
    np.testing.assert_allclose(places, [doubtful_click(), (5, 5), (50, 50)], atol=0.6)
    assert page.locator("#name").inner_text() == "h.png"
    assert not (served.saved / "h.png.json").exists()


def test_two_tabs(served):
    first, second = served.page(image="d.png"), served.page(image="d.png")
    click(first, *doubtful_click())
    click(second, 5, 5)
    assert len(served.actions("d.png")) == 2  # strokes of both
    first.keyboard.press("u")
    idle(first)
    assert "another tab" in first.locator("#error:visible").inner_text()
    assert len(served.actions("d.png")) == 2
    first.keyboard.press("u")  # now it shows what is there
    idle(first)
    assert len(served.actions("d.png")) == 1
    assert first.locator("#error").is_hidden()


def test_zoom_and_pan_keep_strokes_in_place(served):
    page = served.page(image="e.png")
    x, y = on_screen(page, 40, 40)
    page.mouse.move(x, y)
    page.mouse.wheel(0, -400)  # by e, around the mouse
    scale = page.locator("#view").bounding_box()["height"] / 128 * np.e
    page.mouse.click(x + 10 * scale, y)
    idle(page)
    page.get_by_label("Move").check()
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 50, y + 20, steps=3)
    page.mouse.up()
    page.keyboard.press("d")
    page.mouse.click(x + 50, y + 20)
    idle(page)
    first, second = (action["stroke"][0] for action in served.actions("e.png"))
    np.testing.assert_allclose(first, [50, 40], atol=1)
    np.testing.assert_allclose(second, [40, 40], atol=1)


def test_fingers_on_a_phone(served):
    page = served.page(width=390, touch=True, image="f.png")
    page.touchscreen.tap(*on_screen(page, 60, 80))
    idle(page)
    np.testing.assert_allclose(served.actions("f.png")[0]["stroke"], [[60, 80]], atol=1)
    session = page.context.new_cdp_session(page)
    (x, y), count = on_screen(page, 64, 64), len(served.actions("f.png"))

    def touch(kind, *points):
        places = [{"x": a, "y": b, "id": k} for k, (a, b) in enumerate(points)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})

    before = drawn(page)
    touch("touchStart", (x - 20, y))
    touch("touchStart", (x - 20, y), (x + 20, y))
    for reach in (30, 50, 70):
        touch("touchMove", (x - reach, y), (x + reach, y))
    touch("touchEnd")
    idle(page)
    assert drawn(page) != before
    assert len(served.actions("f.png")) == count  # two fingers zoom, they do not draw


def test_a_pen_draws_and_its_other_end_erases(served):
    page = served.page(image="i.png")
    session = page.context.new_cdp_session(page)

    def pen(kind, place, **options):
        x, y = on_screen(page, *place)
        session.send("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "pointerType": "pen"} | options)

    pen("mousePressed", (20, 30), button="left", buttons=1, clickCount=1)
    for x in range(24, 60, 4):
        pen("mouseMoved", (x, 30), buttons=1)
    pen("mouseReleased", (60, 30), button="left", clickCount=1)
    idle(page)
    (stroke,) = served.actions("i.png")
    assert stroke["label"] == 1
    np.testing.assert_allclose([stroke["stroke"][0], stroke["stroke"][-1]], [(20, 30), (56, 30)], atol=1)
    x, y = on_screen(page, 40, 30)
    page.evaluate(  # the protocol of the browser has no such button
        """([x, y]) => { const view = document.getElementById("view"); view.setPointerCapture = () => {};
          const place = { pointerType: "pen", pointerId: 9, button: 5, clientX: x, clientY: y, bubbles: true };
          for (const [kind, buttons] of [["pointerdown", 32], ["pointerup", 0]])
            view.dispatchEvent(new PointerEvent(kind, { ...place, buttons })); }""",
        [x, y],
    )
    idle(page)
    assert served.actions("i.png")[-1]["label"] == -1
    np.testing.assert_allclose(served.actions("i.png")[-1]["stroke"][0], (40, 30), atol=1)


ATTACK = """async ([address, index]) => {
  const tried = {};
  const attempt = async (name, work) => { try { tried[name] = await work(); } catch { tried[name] = "refused"; } };
  const send = (path, options) => fetch(address + path, options).then(reply => reply.text());
  const body = JSON.stringify({ kind: "click", x: 9, y: 9, label: 1 }), actions = `api/0/images/${index}/actions`;
  await attempt("read", () => send("api/0/folder"));
  await attempt("opaque", () => send("api/0/folder", { mode: "no-cors" }));
  await attempt("json", () => send(actions, { method: "POST", headers: { "content-type": "application/json" }, body }));
  await attempt("text", () => send(actions, { method: "POST", mode: "no-cors", body }));
  await attempt("picture", () => new Promise((done, failed) => {
    const image = new Image(); image.onload = () => done("shown"); image.onerror = failed;
    image.src = address + "api/0/images/0/picture"; }));
  await new Promise(done => { const frame = document.createElement("iframe"); frame.onload = done;
    frame.src = address; document.body.append(frame); });
  return tried;
}"""


def test_the_page_of_another_site_gets_nothing_even_with_the_token(served, tmp_path):
    (tmp_path / "index.html").write_text("<!DOCTYPE html><title>elsewhere</title><body>")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    handler.log_message = lambda *_: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as elsewhere:
        threading.Thread(target=elsewhere.serve_forever, daemon=True).start()
        context = served.browser.new_context()
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{elsewhere.server_port}/index.html")
        tried = page.evaluate(ATTACK, [served.address, served.index("j.png")])
        framed = page.frames[-1].locator("#view").count()
        context.close()
        elsewhere.shutdown()
    assert tried.pop("opaque") in ("", "refused")
    assert tried.pop("text") in ("", "refused")
    assert set(tried.values()) == {"refused"}
    assert framed == 0
    assert not (served.saved / "j.png.json").exists()


@pytest.mark.parametrize(("width", "dark"), [(1200, False), (390, True)], ids=["desk", "phone"])
def test_audit_with_hostile_names(served, width, dark):
    page = served.page(width=width, dark=dark, image="a.png")
    assert page.evaluate(AUDIT) == []
    options = page.locator("#images option").all_inner_texts()
    page.locator("#images").select_option(str([HOSTILE in text for text in options].index(True)))
    idle(page)
    assert page.locator("#name").inner_text() == f"{HOSTILE}.png"
    click(page, *doubtful_click())
    assert HOSTILE in page.locator("#labels").inner_text()
    assert page.title() == "mixfield annotate"
    assert page.evaluate(AUDIT) == []


def test_a_server_that_is_killed(browser, tmp_path):
    session = Session(browser, tmp_path)
    write_images(session.photos, ["a.png"])
    (tmp_path / "names.txt").write_text("background\nastronaut\n")
    page = session.start().page()
    click(page, *doubtful_click())
    session.kill()
    click(page, 5, 5)
    assert "does not answer" in page.locator("#error:visible").inner_text()
    again = session.start().page()
    assert len(session.actions()) == 1
    assert again.locator(".card").count() > 1
    click(again, 5, 5)
    assert len(session.actions()) == 2
    session.close()


def test_a_server_that_is_killed_in_the_middle_of_an_action(browser, tmp_path):
    session = Session(browser, tmp_path)
    write_images(session.photos, ["a.png"])
    (tmp_path / "names.txt").write_text("background\nastronaut\n")
    page = session.start().page()
    click(page, *doubtful_click())
    for place in ((5, 5), (120, 5), (5, 120)):
        page.mouse.click(*on_screen(page, *place))
    session.kill()  # while they are under way
    idle(page)
    assert "does not answer" in page.locator("#error:visible").inner_text()
    count = len(session.actions())
    assert 1 <= count <= 4
    again = session.start().page()
    click(again, 60, 5)
    assert len(session.actions()) == count + 1
    session.close()


def test_several_sets_of_labels_and_existing_masks(browser, tmp_path):
    session = Session(browser, tmp_path)
    write_images(session.photos, ["a.png"])
    (tmp_path / "names.txt").write_text("background\nastronaut\n")
    (tmp_path / "parts.txt").write_text("nothing\nhelmet\nsuit\n")
    mask = np.zeros((128, 128), np.uint8)
    mask[40:110, 30:90] = 1
    (tmp_path / "masks").mkdir()
    Image.fromarray(mask).save(tmp_path / "masks" / "a.png")
    page = session.start("--labels", tmp_path / "parts.txt", "--scores", tmp_path / "masks").page()
    assert page.locator("#sets option").all_inner_texts() == ["names", "parts"]
    labels = page.evaluate(
        """async () => { const one = await (await fetch("api/0/images/0")).json(); return one.labels; }"""
    )
    shown = np.asarray(Image.open(io.BytesIO(base64.b64decode(labels.split(",")[1]))))
    assert shown[60:100, 40:80].mean() > 0.8
    assert shown[:20].mean() < 0.1
    click(page, *doubtful_click())
    with page.expect_navigation():
        page.locator("#sets").select_option("1")
    page.wait_for_selector("body[data-ready]", timeout=PATIENCE)
    assert "suit" in page.locator("#labels").inner_text()
    page.get_by_role("radio", name="suit").check()
    click(page, 60, 100)
    assert [action["label"] for action in session.actions()] == [1]
    (action,) = json.loads((session.photos / "annotations" / "parts" / "a.png.json").read_text())["actions"]
    assert action["label"] == 2
    session.close()
    assert session.errors == []
