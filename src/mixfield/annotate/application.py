"""The requests of the page and their answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from mixfield.annotate import exports
from mixfield.annotate.access import TokenAccess
from mixfield.annotate.folder import AnnotationFolder
from mixfield.annotate.image_state import answer_state, folder_state, image_state, picture_file
from mixfield.annotate.open_image import StaleError
from mixfield.errors import MixfieldError, sentence

STATIC = Path(__file__).parent / "static"
PAGE = "annotate.html"
MEDIA_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
LARGEST_BODY = 8 << 20  # bytes
WRONG, STALE, FAILED = 400, 409, 500


def application(folders: Sequence[AnnotationFolder], titles: Sequence[str], token: str) -> ASGIApp:
    """The web application.

    Parameters
    ----------
    folders : one for each set of labels.
    titles : of the sets of labels.
    token : first part of every path.
    """
    pages = _Pages(folders, titles)
    routes = [
        Route("/", pages.file),
        Route("/{name}", pages.file),
        Route("/api/{labels:int}/folder", pages.folder),
        Route("/api/{labels:int}/images/{index:int}", pages.image),
        Route("/api/{labels:int}/images/{index:int}/picture", pages.picture),
        Route("/api/{labels:int}/images/{index:int}/actions", pages.action, methods=["POST"]),
        Route("/api/{labels:int}/images/{index:int}/done", pages.done, methods=["POST"]),
        Route("/api/{labels:int}/export/{kind}", pages.export),
    ]
    handlers: Any = {MixfieldError: _wrong, OSError: _failed}
    return TokenAccess(Starlette(routes=routes, exception_handlers=handlers), token)


class _Pages:
    """The answers; Starlette runs those that are not coroutines in threads."""

    def __init__(self, folders: Sequence[AnnotationFolder], titles: Sequence[str]) -> None:
        self._folders, self._titles = folders, titles
        self._files = {file.name: file for file in STATIC.iterdir() if file.suffix in MEDIA_TYPES}

    def file(self, request: Request) -> Response:
        file = self._files.get(request.path_params.get("name", PAGE))
        if file is None:
            return Response(status_code=404)
        return Response(file.read_bytes(), media_type=MEDIA_TYPES[file.suffix])

    def folder(self, request: Request) -> Response:
        return _json(folder_state(self._folder(request)) | {"sets": list(self._titles)})

    def image(self, request: Request) -> Response:
        return _json(image_state(self._folder(request), request.path_params["index"]))

    def picture(self, request: Request) -> Response:
        picture = self._folder(request).picture(request.path_params["index"])
        return Response(picture_file(picture), media_type="image/jpeg")

    async def action(self, request: Request) -> Response:
        return await run_in_threadpool(self._perform, request, await _document(request))

    def _perform(self, request: Request, document: dict[str, Any]) -> Response:
        folder, index = self._folder(request), request.path_params["index"]
        with folder.lock:
            try:
                folder.open(index).perform(document)
            except StaleError as error:
                return _json(image_state(folder, index) | {"message": str(error)}, STALE)
            except OSError:
                folder.close(index)  # what could not be saved is not shown either
                raise
            return _json(answer_state(folder, index))

    async def done(self, request: Request) -> Response:
        return await run_in_threadpool(self._mark, request, await _document(request))

    def _mark(self, request: Request, document: dict[str, Any]) -> Response:
        folder, index, done = self._folder(request), request.path_params["index"], document.get("done")
        if not isinstance(done, bool):
            raise MixfieldError(f"done must be true or false, got {done!r}")
        folder.mark_done(index, done)
        return _json(folder_state(folder) | {"next": folder.next_image(index), "sets": list(self._titles)})

    def export(self, request: Request) -> Response:
        name, content = exports.download(self._folder(request), request.path_params["kind"])
        disposition = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(content, media_type="application/octet-stream", headers=disposition)

    def _folder(self, request: Request) -> AnnotationFolder:
        number = request.path_params["labels"]
        if not 0 <= number < len(self._folders):
            raise MixfieldError(f"the sets of labels have the numbers 0 to {len(self._folders) - 1}, got {number}")
        return self._folders[number]


async def _document(request: Request) -> dict[str, Any]:
    """The JSON object of a request.  Its media type is checked: forms of other sites can send only other ones."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise MixfieldError("the content must be application/json")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_BODY:
            raise MixfieldError(f"at most {LARGEST_BODY} bytes are read")
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise MixfieldError(f"the content is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise MixfieldError("the content must be a JSON object")
    return document


def _json(document: dict[str, Any], status: int = 200) -> Response:
    # ASCII: file names that are not UTF-8 have surrogates
    return Response(json.dumps(document), status_code=status, media_type="application/json")


def _wrong(_request: Request, error: Exception) -> Response:
    return _json({"error": sentence(error)}, WRONG)


def _failed(_request: Request, error: Exception) -> Response:
    return _json({"error": f"This was not saved: {sentence(error)}"}, FAILED)
