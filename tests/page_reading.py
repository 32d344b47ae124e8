"""What a page contains: the numbers and bytes that its script reads."""

from __future__ import annotations

import base64
import json
import re
import zlib
from html import escape

HOSTILE = '"><script>alert(1)</script>&amp;'  # ends an attribute and starts a script


def facts_of(page):
    """The JSON of a page."""
    return json.loads(re.search(r'id="facts">(.*?)</script>', page, re.DOTALL)[1])


def planes_of(page):
    """The bytes of a page, decompressed."""
    return zlib.decompress(base64.b64decode(re.search(r'id="planes">(.*?)</script>', page)[1]))


def escaped_count(page):
    """How often `HOSTILE` is shown as text; it must not be there as HTML."""
    assert HOSTILE not in page
    assert "<script>alert" not in page
    return page.count(escape(HOSTILE))
