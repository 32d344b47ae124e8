"""Requests of the page."""

from __future__ import annotations

import io
import json
import os
import zipfile

import numpy as np
import pytest
from annotating import NAMES, Client, doubtful_click, opened, write_images

import mixfield as mf
from mixfield.annotate import application
from mixfield.annotate.folder import AnnotationFolder


@pytest.fixture
def client(tmp_path):
    return Client(opened(tmp_path))


def clicked(client, index=0):
    x, y = doubtful_click()
    answer = client.act(index, "click", x=x, y=y, label=1).json()
    state = client.get(f"api/0/images/{index}").json()
    assert answer == {name: state[name] for name in answer}
    return state


def test_the_page_and_its_files(client):
    page = client.get()
    assert page.status == 200
    assert page.headers["content-type"].startswith("text/html")
    for name, kind in {"main.js": "text/javascript", "annotate.css": "text/css"}.items():
        assert client.get(name).headers["content-type"].startswith(kind)
    assert b"http" not in page.content  # nothing of other machines
    for path in ("nothing.js", "__init__.py", "..%2f__init__.py", "../folder.py", "api/0/nothing"):
        assert client.get(path).status == 404


def test_no_script_makes_html_of_names():
    for file in application.STATIC.glob("*.js"):
        text = file.read_text()
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "http://", "https://"):
            assert word not in text


def test_a_session(client):
    state = clicked(client)
    assert state["actions"] == 1
    chosen = client.act(0, "choose", k=1, revision=state["revision"]).json()
    assert chosen["labels"] == state["suggestions"][1]["labels"]
    undone = client.act(0, "undo", revision=chosen["revision"]).json()
    assert undone["labels"] == state["labels"]
    answered = client.act(0, "answer", yes=False, revision=undone["revision"]).json()
    assert answered["actions"] == 2
    assert client.get("api/0/images/0").json()["revision"] == answered["revision"]
    assert client.get("api/0/images/0/picture").headers["content-type"] == "image/jpeg"
    folder = client.post("api/0/images/0/done", {"done": True}).json()
    assert folder["next"] == 1
    assert [image["done"] for image in folder["images"]] == [True, False, False]


def test_a_killed_server_loses_nothing_that_was_answered(client, tmp_path):
    state = clicked(client)
    client.post("api/0/images/2/done", {"done": True})
    again = Client(opened(tmp_path))  # nothing was closed
    resumed = again.get("api/0/images/0").json()
    assert resumed["revision"] != state["revision"]
    assert {**resumed, "revision": ""} == {**state, "revision": ""}
    assert again.get("api/0/folder").json()["images"][2]["done"]


def test_a_tab_that_is_late_sees_what_is_there(client):
    state = clicked(client)
    other = client.act(0, "click", x=5, y=5, label=0).json()
    reply = client.act(0, "choose", k=1, revision=state["revision"])
    assert reply.status == 409
    assert "another tab" in reply.json()["message"]
    assert reply.json()["revision"] == other["revision"]
    assert reply.json()["actions"] == 2


def test_what_cannot_be_saved_is_said_and_not_shown(client, monkeypatch):
    clicked(client)

    def full(*_):
        raise OSError(28, "No space left on device", "a.png.json")

    with monkeypatch.context() as patch:
        patch.setattr(mf.Annotation, "save", full)
        reply = client.act(0, "click", x=5, y=5, label=0)
    assert reply.status == 500
    assert "not saved" in reply.json()["error"]
    assert client.get("api/0/images/0").json()["actions"] == 1


@pytest.mark.parametrize(
    ("path", "content", "media_type"),
    [
        ("api/0/images/0/actions", b'{"kind": "undo"', "application/json"),
        ("api/0/images/0/actions", b"[1]", "application/json"),
        ("api/0/images/0/actions", b"[" * 100_000, "application/json"),
        ("api/0/images/0/actions", b"\xff", "application/json"),
        ("api/0/images/0/actions", b" " * ((8 << 20) + 1), "application/json"),
        ("api/0/images/0/actions", b'{"kind": "click", "x": 1, "y": 1, "label": 1}', "text/plain"),
        ("api/0/images/7/actions", b'{"kind": "click", "x": 1, "y": 1, "label": 1}', "application/json"),
        ("api/4/images/0/actions", b'{"kind": "click", "x": 1, "y": 1, "label": 1}', "application/json"),
        ("api/0/images/0/done", b'{"done": 1}', "application/json"),
        ("api/0/images/0/done", b"{}", "application/json"),
    ],
)
def test_nonsense_is_a_sentence(client, path, content, media_type):
    reply = client.request("POST", path, content, headers={"content-type": media_type})
    assert reply.status == 400
    assert reply.json()["error"]
    assert client.get("api/0/images/0").json()["actions"] == 0


def test_exports_are_downloads(client):
    assert client.get("api/0/export/coco").status == 400
    clicked(client)
    coco = client.get("api/0/export/coco")
    assert coco.headers["content-disposition"] == 'attachment; filename="coco.json"'
    assert [image["file_name"] for image in json.loads(coco.content)["images"]] == ["a.png"]
    with zipfile.ZipFile(io.BytesIO(client.get("api/0/export/stack").content)) as archive:
        assert archive.namelist() == ["a.png.npz"]
    assert "must be one of png, coco" in client.get("api/0/export/exe").json()["error"]


def test_several_sets_of_labels(tmp_path):
    images = write_images(tmp_path / "photos")
    sets = [NAMES, ("sky", "earth", "sea")]
    client = Client(*(AnnotationFolder(images, names, tmp_path / str(k)) for k, names in enumerate(sets)))
    client.post("api/1/images/0/actions", {"kind": "click", "x": 3, "y": 3, "label": 2})
    assert client.get("api/0/images/0").json()["actions"] == 0
    assert client.get("api/1/images/0").json()["actions"] == 1
    assert client.get("api/1/folder").json()["sets"] == ["set 0", "set 1"]
    assert len(client.get("api/1/folder").json()["labels"]) == 3


@pytest.mark.skipif(os.name != "posix", reason="file names are texts elsewhere")
def test_a_file_name_that_is_not_text(tmp_path):
    name = os.fsdecode(b"\xff.png")
    client = Client(AnnotationFolder(write_images(tmp_path / "photos", [name]), NAMES, tmp_path / "saved"))
    assert clicked(client)["name"] == name
    for kind in ("png", "coco", "label-studio", "stack"):
        assert client.get(f"api/0/export/{kind}").status == 200


def test_labels_follow_the_strokes(client):
    clicked(client)
    client.act(0, "stroke", points=[[2, 2], [30, 2]], label=0, radius=2)
    with zipfile.ZipFile(io.BytesIO(client.get("api/0/export/stack").content)) as archive:
        stack = np.load(io.BytesIO(archive.read("a.png.npz")))
    assert (stack["labels"][:, 1:4, 2:30] == 0).all()
