"""Who may talk to the server: requests that name this machine and carry the token of the printed address."""

from __future__ import annotations

import secrets
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}


class TokenAccess:
    """An ASGI application below ``/<token>/``; anybody else gets an empty answer with status 404.

    The host must be the loopback, under whatever port, so that another host name that resolves to this machine does
    not reach the server (DNS rebinding); the origin, if a browser sends one, must be that host.
    """

    def __init__(self, application: ASGIApp, token: str) -> None:
        self._application, self._token = application, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, _with_headers(send))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        token, slash, rest = scope["path"].removeprefix("/").partition("/")
        known = secrets.compare_digest(token.encode("utf-8", "replace"), self._token.encode())
        if not (known and slash and is_local(Headers(scope=scope))):
            await Response(status_code=404)(scope, receive, send)
            return
        inner = {**scope, "path": f"/{rest}", "raw_path": f"/{rest}".encode("utf-8", "replace"), "root_path": ""}
        await self._application(inner, receive, send)


def is_local(headers: Headers) -> bool:
    """Whether a request is for the loopback and comes from no other site."""
    host, origin = headers.get("host", ""), headers.get("origin")
    try:
        name = urlsplit(f"//{host}").hostname
    except ValueError:
        return False
    return name in LOOPBACK and origin in (None, f"http://{host}")


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(HEADERS)
        await send(message)

    return sent
