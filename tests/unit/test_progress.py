"""Progress bars of the library: on terminals, after two seconds, one at a time."""

from __future__ import annotations

import io
import sys
import threading
import time

import numpy as np
import pytest

import mixfield as mf
from experiments.tracking.doubts import doubtful_walk
from mixfield import _progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """A function that makes standard error a terminal, with bars that appear at once."""

    def install(delay=0.01):  # in the test itself: pytest replaces standard error after fixtures
        stream = Terminal()
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(_progress, "DELAY", delay)
        return stream

    return install


def slow(advance):
    for done in range(3):
        advance(done)
        time.sleep(0.05)


def test_a_callback_is_returned_as_it_is():
    calls = []
    with _progress.shown(calls.append, "modes", 3) as advance:
        slow(advance)
    assert calls == [0, 1, 2]


def test_neither_a_callback_nor_a_switch():
    said = "progress must be a function, None, True or False, got 3"
    with pytest.raises(mf.errors.MixfieldError, match=said), _progress.shown(3, "modes", 1):
        pass


def test_a_bar_appears_on_a_terminal_and_goes_away(terminal):
    screen = terminal()
    with _progress.shown(None, "modes", 3) as advance:
        slow(advance)
    assert "modes" in screen.getvalue()
    assert "2/3" in screen.getvalue()
    assert screen.getvalue().endswith("\x1b[2K")  # the line is erased
    assert "\x1b[?25h" in screen.getvalue()  # and the cursor is visible


def test_short_calls_show_nothing(terminal):
    screen = terminal(delay=60.0)
    with _progress.shown(None, "modes", 3) as advance:
        slow(advance)
    assert screen.getvalue() == ""


def test_the_bar_of_a_closed_call_never_starts(terminal):
    screen = terminal()
    bar = _progress._LateBar("modes", 3)
    bar.close()
    bar._start()  # as if the timer had fired at the last moment
    assert screen.getvalue() == ""


def test_no_bar_without_a_terminal(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with _progress.shown(None, "modes", 3) as advance:
        assert advance is None


def test_no_bar_if_false_hidden_nested_or_in_a_thread(terminal):
    terminal()
    assert _progress._visible()
    with _progress.shown(False, "modes", 3) as advance:
        assert advance is None
    with _progress.hidden(), _progress.shown(None, "modes", 3) as advance:
        assert advance is None
    with _progress.shown(None, "frames", 3) as outer, _progress.shown(None, "modes", 3) as inner:
        assert outer is not None
        assert inner is None
    seen = []
    thread = threading.Thread(target=lambda: seen.append(_progress._visible()))
    thread.start()
    thread.join()
    assert seen == [False]


def interrupted():
    with _progress.shown(None, "modes", 3) as advance:
        slow(advance)
        raise KeyboardInterrupt


def test_interrupts_remove_the_bar(terminal):
    screen = terminal()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert screen.getvalue().endswith("\x1b[2K")
    assert _progress._visible()


def calls():
    """Public functions that show progress, with a progress argument."""
    graph = mf.datasets.four_zones(6)
    image, probs = np.zeros((6, 8), np.uint8), np.full((6, 8, 2), 0.5)
    walk = doubtful_walk(6, shape=(8, 8), people=1, rng=0)
    people = mf.datasets.walking_people(n_people=1, n_cameras=1, n_frames=1, rng=0)
    frame = mf.segment(image, probs, 1, progress=False)
    return {
        "infer": lambda progress: mf.infer(graph, 2, progress=progress),
        "segment": lambda progress: mf.segment(image, probs, 1, progress=progress),
        "track": lambda progress: mf.track(walk.posteriors, walk.ground, progress=progress),
        "detect": lambda progress: mf.detect(people.scene, list(people.masks[0]), 1, progress=progress),
        "segment_video": lambda progress: mf.segment_video([image], [frame], progress=progress),
    }


@pytest.mark.parametrize("name", ["infer", "segment", "track", "detect", "segment_video"])
@pytest.mark.filterwarnings("ignore::mixfield.errors.MixfieldWarning")
def test_public_functions(name, terminal, monkeypatch):
    asked = []
    real = _progress._LateBar

    class Bar(real):
        def __init__(self, what, total):
            asked.append(what)
            super().__init__(what, total)

    monkeypatch.setattr(_progress, "_LateBar", Bar)
    call = calls()[name]
    terminal()
    call(False)
    assert asked == []
    call(None)
    assert asked == ["frames" if name in ("track", "segment_video") else "modes"]
