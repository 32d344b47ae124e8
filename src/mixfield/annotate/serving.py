"""The server on the loopback: an address with a token, one process for each folder of annotations."""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from mixfield.annotate.doubt import rank_images
from mixfield.annotate.folder import AnnotationFolder
from mixfield.batch.file_lock import lock
from mixfield.errors import MixfieldError

HOST = "127.0.0.1"
LOCK = ".lock"
TOKEN_BYTES = 24


def check_packages() -> None:
    """Raise a `MixfieldError` that names the extra if Starlette or uvicorn are missing."""
    try:
        import starlette
        import uvicorn
    except ImportError:
        raise MixfieldError("the page is served by Starlette and uvicorn: pip install 'mixfield[annotate]'") from None
    del starlette, uvicorn


def serve(
    folders: Sequence[AnnotationFolder], titles: Sequence[str], *, port: int = 0, ready: Callable[[str], object]
) -> None:
    """Serve the page until the process is stopped.

    Parameters
    ----------
    folders : one for each set of labels.
    titles : of the sets of labels.
    port : of the server; 0 for a free one.
    ready : called with the address when the server can be reached.
    """
    check_packages()
    import uvicorn

    from mixfield.annotate.application import application

    token = secrets.token_urlsafe(TOKEN_BYTES)
    with ExitStack() as stack:
        for folder in folders:
            stack.enter_context(alone_in(folder.saved))
        listening = stack.enter_context(_listening(port))
        stack.enter_context(_ranking(folders))
        config = uvicorn.Config(
            application(folders, titles, token),
            log_level="warning",
            access_log=False,  # its lines would show the token
            server_header=False,
        )
        ready(f"http://{HOST}:{listening.getsockname()[1]}/{token}/")
        uvicorn.Server(config).run(sockets=[listening])


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """A `MixfieldError` if another process annotates in this folder."""
    with (folder / LOCK).open("ab", buffering=0) as file:
        if not lock(file):
            raise MixfieldError(f"another mixfield annotate writes to {folder}; use its page, or stop it first")
        yield


def _listening(port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        found.bind((HOST, port))
    except OSError as error:
        found.close()
        raise MixfieldError(f"port {port} cannot be used: {error.strerror}; give another --port, or none") from None
    found.listen()
    return found


@contextmanager
def _ranking(folders: Sequence[AnnotationFolder]) -> Iterator[None]:
    """Doubts are computed in the background."""
    stopped = threading.Event()
    workers = [threading.Thread(target=rank_images, args=(folder, stopped), daemon=True) for folder in folders]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        stopped.set()
