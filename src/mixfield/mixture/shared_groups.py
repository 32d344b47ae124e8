"""Constraints of a saved header that refer to shared groups: each group is written once, as gaps of its variables.

A cut of an image is a constraint on tens of thousands of pixels, and stands in the header of every node and mode below
it.  Neighbouring pixels have gaps of one, which compress to nearly nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

Header = dict[str, Any]


def share_groups(header: Header) -> None:
    """Replace the groups of all constraints of a header by indices into a new list ``groups``."""
    seen: dict[tuple[int, ...], int] = {}
    for constraint in _constraints(header):
        group = tuple(constraint["group"])
        constraint["group"] = seen.setdefault(group, len(seen))
        labels = constraint["labels"]
        constraint["labels"] = labels[:1] if len(set(labels)) == 1 else labels
    header["groups"] = [[after - before for before, after in zip((0, *group), group, strict=False)] for group in seen]


def restore_groups(header: Header) -> None:
    """The inverse of `share_groups`; a header without ``groups`` is left as it is.

    Raises ``TypeError``, ``ValueError`` or ``LookupError`` for damaged headers.
    """
    if "groups" not in header:
        return
    groups = [list(accumulate(int(gap) for gap in gaps)) for gaps in header.pop("groups")]
    for constraint in _constraints(header):
        index = constraint["group"]
        if not isinstance(index, int) or not 0 <= index < len(groups):
            raise ValueError(f"a constraint must refer to one of {len(groups)} groups, got {index!r}")
        constraint["group"] = groups[index]


def _constraints(header: Header) -> Iterator[Header]:
    """The constraints of all modes and nodes."""
    for mode in header["modes"]:
        yield from mode["constraints"]
    yield from (node["constraint"] for node in header["tree"] if node["constraint"] is not None)
