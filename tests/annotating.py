"""A folder of small photographs to annotate, and requests to the page of ``mixfield annotate`` without a network."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from functools import cache

import numpy as np
from PIL import Image

import mixfield as mf
from mixfield.annotate.application import application
from mixfield.annotate.folder import AnnotationFolder

NAMES = ("background", "astronaut")
TOKEN = "secret"
HOST = "127.0.0.1:8000"


@cache
def photograph():
    """(128, 128, 3) of scikit-image, in which one click leaves some doubt."""
    from skimage.data import astronaut

    return np.ascontiguousarray(astronaut()[::4, ::4])


@cache
def doubtful_click():
    """A click ``(x, y)`` after which there are alternatives that look different, and a question."""
    for x, y in [(60, 80), (55, 70), (70, 90), (60, 100), (50, 90), (64, 64), (40, 110), (90, 100)]:
        annotation = mf.Annotation(photograph(), NAMES)
        annotation.click(x, y, 1)
        if annotation.question() is not None and any(one.differs.any() for one in annotation.suggest()):
            return x, y
    raise AssertionError("no click leaves a question; choose others")


def write_images(folder, names=("a.png", "b.png", "c.png")):
    """Write one photograph under several names; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        Image.fromarray(photograph()).save(folder / name, format="PNG")
    return folder


def write_scores(folder, certainties):
    """Probabilities that the middle is an astronaut, by the name of the image; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, certainty in certainties.items():
        probs = np.full((128, 128, 2), 0.5)
        probs[32:96, 32:96] = 1 - certainty, certainty
        probs[:16], probs[-16:] = (certainty, 1 - certainty), (certainty, 1 - certainty)
        np.save(folder / f"{name}.npy", probs)
    return folder


def opened(tmp_path, **options):
    """The folder of annotations of three images."""
    return AnnotationFolder(write_images(tmp_path / "photos"), NAMES, tmp_path / "saved", **options)


@dataclass
class Reply:
    """What the server answers."""

    status: int
    headers: dict[str, str]
    content: bytes

    def json(self):
        return json.loads(self.content)


class Client:
    """Requests to the application; paths are relative to the address with the token."""

    def __init__(self, *folders, token=TOKEN):
        self.application = application(folders, [f"set {k}" for k in range(len(folders))], token)

    def get(self, path="", **options):
        return self.request("GET", path, b"", **options)

    def post(self, path, document, **options):
        headers = {"content-type": "application/json"} | options.pop("headers", {})
        return self.request("POST", path, json.dumps(document).encode(), headers=headers, **options)

    def act(self, index, kind, **arguments):
        return self.post(f"api/0/images/{index}/actions", {"kind": kind, **arguments})

    def request(self, method, path, content, *, root=f"/{TOKEN}/", headers=()):
        """Send a request; ``root`` begins its path, headers that are None are left out."""
        given = {"host": HOST} | dict(headers)
        scope = {
            "type": "http", "http_version": "1.1", "method": method, "scheme": "http", "query_string": b"",
            "path": root + path, "raw_path": (root + path).encode(), "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in given.items() if value is not None],
        }  # fmt: skip
        return asyncio.run(self._sent(scope, content))

    async def _sent(self, scope, content):
        messages = []

        async def receive():
            return {"type": "http.request", "body": content, "more_body": False}

        async def send(message):
            messages.append(message)

        await self.application(scope, receive, send)
        start = messages[0]
        headers = {name.decode(): value.decode() for name, value in start["headers"]}
        return Reply(start["status"], headers, b"".join(message.get("body", b"") for message in messages[1:]))
