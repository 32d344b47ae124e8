"""An open image: actions of the page are applied, saved, and refused if they refer to an earlier state."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

from mixfield.apps.annotation import Annotation, Suggestion
from mixfield.errors import MixfieldError
from mixfield.interactive.region_question import RegionQuestion

Request = dict[str, Any]

ALTERNATIVES = 4
NEED_REVISION = ("choose", "answer", "undo")  # actions that refer to what the page shows
MOST_POINTS = 100_000  # of a stroke


class StaleError(MixfieldError):
    """An action about something that has changed since the page showed it."""


class OpenImage:
    """An annotation with the file it is saved in.

    Attributes
    ----------
    annotation : the annotation.
    revision : changes with every action; a page sends the one that it shows.
    """

    def __init__(self, annotation: Annotation, file: Path) -> None:
        self.annotation, self._file = annotation, file
        self._renew()

    def _renew(self) -> None:
        self.revision = secrets.token_hex(8)
        self._suggestions: tuple[Suggestion, ...] | None = None  # with the question, computed when it is needed
        self._question: RegionQuestion | None = None

    def suggestions(self) -> tuple[Suggestion, ...]:
        """The alternatives of this revision."""
        if self._suggestions is None:
            self._suggestions = self.annotation.suggest(ALTERNATIVES)
            self._question = self.annotation.question()
        return self._suggestions

    def question(self) -> RegionQuestion | None:
        """The question of this revision; None if none is worth asking."""
        self.suggestions()
        return self._question

    def perform(self, request: Request) -> None:
        """Do what a page asks for and save it.

        Parameters
        ----------
        request : ``kind`` and its arguments: ``stroke`` (``points``, ``label`` or None to erase, ``radius``), ``click``
            (``x``, ``y``, ``label``), ``choose`` (``k``), ``answer`` (``yes``) or ``undo``.  The last three need the
            ``revision`` that the page shows: `StaleError` if it is not the present one.
        """
        handlers = {
            "stroke": self._stroke,
            "click": self._click,
            "choose": self._choose,
            "answer": self._answer,
            "undo": self._undo,
        }
        kind = request.get("kind")
        if not isinstance(kind, str) or kind not in handlers:
            raise MixfieldError(f"kind must be one of {', '.join(handlers)}, got {kind!r}")
        if kind in NEED_REVISION and request.get("revision") != self.revision:
            raise StaleError("This image was changed in another tab. It is shown as it is now; please try again.")
        try:
            handlers[kind](request)
        except MixfieldError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise MixfieldError(f"{kind} has missing or wrong arguments: {error}") from None
        self._renew()
        self.annotation.save(self._file)

    def _stroke(self, request: Request) -> None:
        points = request["points"]
        if not isinstance(points, list) or not 0 < len(points) <= MOST_POINTS:
            raise MixfieldError(f"points must be a list of 1 to {MOST_POINTS} corners")
        self.annotation.add_stroke(points, _label(request["label"], optional=True), radius=float(request["radius"]))

    def _click(self, request: Request) -> None:
        self.annotation.click(float(request["x"]), float(request["y"]), _label(request["label"]))

    def _choose(self, request: Request) -> None:
        self.annotation.choose(_integer("k", request["k"]), ALTERNATIVES)

    def _answer(self, request: Request) -> None:
        question = self.question()
        if question is None:
            raise MixfieldError("there is no question to answer")
        if not isinstance(request["yes"], bool):
            raise MixfieldError(f"yes must be true or false, got {request['yes']!r}")
        self.annotation.answer(question, request["yes"])

    def _undo(self, _request: Request) -> None:
        self.annotation.undo()


def _label(value: Any, *, optional: bool = False) -> Any:
    return None if optional and value is None else _integer("label", value)


def _integer(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise MixfieldError(f"{name} must be an integer, got {value!r}")
    return value
