"""The server as a process: its address, the lock on its folder, and what is left when it is killed."""

from __future__ import annotations

import builtins
import contextlib
import http.client
import json
import subprocess
import sys
import threading
import urllib.error
import urllib.request

import pytest
from annotating import opened, write_images

from mixfield.annotate import serving
from mixfield.annotate.serving import alone_in, check_packages, serve
from mixfield.errors import MixfieldError


@pytest.fixture
def server(tmp_path):
    write_images(tmp_path / "photos")
    (tmp_path / "names.txt").write_text("background\nastronaut\n")
    words = ["annotate", str(tmp_path / "photos"), "--labels", str(tmp_path / "names.txt"), "--no-open", "--json"]
    process = subprocess.Popen([sys.executable, "-m", "mixfield", *words], stdout=subprocess.PIPE, text=True)
    yield process, json.loads(process.stdout.readline())["address"]
    process.kill()
    process.wait()
    process.stdout.close()


def sent(address, document=None, **headers):
    content = None if document is None else json.dumps(document).encode()
    request = urllib.request.Request(address, content, {"content-type": "application/json", **headers})
    with urllib.request.urlopen(request, timeout=120) as reply:
        return reply.read()


def test_a_killed_server(server, tmp_path):
    process, address = server
    assert address.startswith("http://127.0.0.1:")
    assert len(address.split("/")[3]) >= 32
    assert b"<!DOCTYPE html>" in sent(address)
    for wrong in (address[:-10] + "/", address.rsplit("/", 2)[0] + "/"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            sent(wrong)
    sent(f"{address}api/0/images/0/actions", {"kind": "click", "x": 60, "y": 80, "label": 1})
    saved = tmp_path / "photos" / "annotations" / "names"
    with pytest.raises(MixfieldError, match="another mixfield annotate"), alone_in(saved):
        pass
    process.kill()
    process.wait()
    with alone_in(saved):  # the lock is gone with the process
        assert len(json.loads((saved / "a.png.json").read_text())["actions"]) == 1


def test_a_server_that_is_killed_while_it_saves(server, tmp_path):
    process, address = server
    place, stroke = f"{address}api/0/images/0/actions", {"kind": "stroke", "label": 1, "radius": 1}
    sent(place, {**stroke, "points": [[60, 80]]})  # the first one compiles
    answered = 1
    killer = threading.Timer(1.0, process.kill)
    killer.start()
    with contextlib.suppress(OSError, http.client.HTTPException):
        while True:
            sent(place, {**stroke, "points": [[answered % 100, y] for y in range(100)]})
            answered += 1
    killer.join()
    saved = json.loads((tmp_path / "photos" / "annotations" / "names" / "a.png.json").read_text())
    assert answered > 1
    assert len(saved["actions"]) in (answered, answered + 1)


def test_a_port_that_is_taken(tmp_path):
    with serving._listening(0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(MixfieldError, match=f"port {port} cannot be used"):
            serve([opened(tmp_path)], ["names"], port=port, ready=lambda _: None)


def test_without_the_extra(monkeypatch):
    real = builtins.__import__

    def absent(name, *arguments):
        if name == "uvicorn":
            raise ImportError(name)
        return real(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(MixfieldError, match=r"mixfield\[annotate\]"):
        check_packages()
