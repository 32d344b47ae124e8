"""Ctrl-C more than once."""

from __future__ import annotations

import signal
import threading
from contextlib import suppress

import pytest
import typer

from mixfield.cli.interrupts import one_interrupt
from mixfield.cli.terminal import stoppable


@pytest.fixture(autouse=True)
def default_handler():
    """SIGINT raises KeyboardInterrupt, as in a terminal; a background job of a shell ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press():
    signal.raise_signal(signal.SIGINT)


def generator(log):
    """A generator with a cleanup that is interrupted."""
    try:
        yield
    finally:
        press()
        log.append("closed")


def interrupted_cleanup(log):
    """Interrupted in the work, then in `finally`, in `except` and in a generator that is closed there."""
    outcomes = generator(log)
    next(outcomes)
    try:
        try:
            press()
        finally:
            press()
            log.append("finally")
    except KeyboardInterrupt:
        press()
        outcomes.close()
        log.append("except")
        raise


def test_the_cleanup_is_not_interrupted():
    log = []
    with pytest.raises(KeyboardInterrupt), one_interrupt():
        interrupted_cleanup(log)
    assert log == ["finally", "closed", "except"]


def test_a_stopped_verb_ignores_further_interrupts(capsys):
    log = []
    with pytest.raises(typer.Exit) as stopped:
        stoppable(interrupted_cleanup)(log)
    assert stopped.value.exit_code == 130
    assert log == ["finally", "closed", "except"]
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # the process exits
    assert capsys.readouterr().err == "mixfield: stopped; give the same command again\n"


def lost_interrupt():
    with suppress(KeyboardInterrupt):
        press()
    press()


def interrupted_while_handling_an_error():
    try:
        raise ValueError
    except ValueError:
        press()


@pytest.mark.parametrize("work", [lost_interrupt, interrupted_while_handling_an_error])
def test_an_interrupt_is_raised_unless_one_is_handled(work):
    with pytest.raises(KeyboardInterrupt), one_interrupt():
        work()


def test_the_handler_is_restored():
    with one_interrupt():
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("handler", [signal.SIG_IGN, lambda *_: None])
def test_other_handlers_are_kept(handler):
    signal.signal(signal.SIGINT, handler)
    with one_interrupt():
        assert signal.getsignal(signal.SIGINT) is handler
    assert signal.getsignal(signal.SIGINT) is handler


def test_other_threads_have_no_handlers():
    errors = []

    def run():
        try:
            with one_interrupt():
                pass
        except ValueError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert errors == []
