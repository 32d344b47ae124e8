"""A foreign origin, another host or a missing token gets nothing."""

from __future__ import annotations

import pytest
from annotating import HOST, TOKEN, Client, opened

PATHS = ["", "main.js", "api/0/folder", "api/0/images/0", "api/0/images/0/picture", "api/0/export/png"]


@pytest.fixture
def client(tmp_path):
    return Client(opened(tmp_path))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("root", ["/", f"/{TOKEN}x/", "/x/", f"//{TOKEN}/", "/é/"])
def test_nothing_without_the_token(client, path, root):
    reply = client.get(path, root=root)
    assert (reply.status, reply.content) == (404, b"")


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://example.org"},
        {"origin": "null"},
        {"origin": "http://localhost:8000"},  # of another page on this machine: not the one that was asked
        {"origin": "https://127.0.0.1:8000"},
        {"host": "example.org"},
        {"host": "example.org:8000", "origin": "http://example.org:8000"},
        {"host": "127.0.0.1.example.org"},
        {"host": "[::1"},
        {"host": ""},
        {"host": None},
    ],
    ids=str,
)
def test_nothing_for_others(client, headers):
    for path in PATHS[:4]:
        reply = client.get(path, headers=headers)
        assert (reply.status, reply.content) == (404, b"")
    reply = client.post("api/0/images/0/done", {"done": True}, headers=headers)
    assert (reply.status, reply.content) == (404, b"")
    assert client.get("api/0/folder").json()["images"][0]["done"] is False


@pytest.mark.parametrize("host", [HOST, "localhost:9999", "[::1]:8000", "127.0.0.1"])
def test_this_machine_under_any_port(client, host):
    assert client.get(headers={"host": host}).status == 200
    assert client.get(headers={"host": host, "origin": f"http://{host}"}).status == 200


@pytest.mark.parametrize("root", [f"/{TOKEN}/", "/"])
def test_headers_that_keep_others_out(client, root):
    headers = client.get(root=root).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"  # the address has the token
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in headers
