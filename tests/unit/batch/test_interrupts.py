"""SIGINT while workers start."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from mixfield.batch.interrupts import sigint_blocked

needs_masks = pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signal masks are for POSIX systems")


@pytest.fixture
def default_handler():
    """SIGINT raises KeyboardInterrupt, as in a terminal; a background job of a shell ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt_in_block(reached):
    with sigint_blocked():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)
        reached.set()


@needs_masks
@pytest.mark.usefixtures("default_handler")
def test_sigint_waits_for_the_end_of_the_block():
    """Also where another thread, which does not block the signal, receives it."""
    done, reached = threading.Event(), threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupt_in_block(reached)
    finally:
        done.set()
        other.join()
    assert reached.is_set()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@needs_masks
def test_threads_of_the_block_keep_the_mask():
    masks = []
    with sigint_blocked():
        thread = threading.Thread(target=lambda: masks.append(signal.pthread_sigmask(signal.SIG_BLOCK, [])))
        thread.start()
        thread.join()
    assert signal.SIGINT in masks[0]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_a_system_without_signal_masks(monkeypatch):
    monkeypatch.delattr(signal, "pthread_sigmask", raising=False)
    before = signal.getsignal(signal.SIGINT)
    with sigint_blocked():
        assert signal.getsignal(signal.SIGINT) is before
