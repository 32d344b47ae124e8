"""Damage to well-formed files: bytes, tokens, numbers, repeated parts, other encodings, members of archives."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib

import numpy as np

TOKENS = [
    b"-1",
    b"0",
    b"1e400",
    b"nan",
    b"inf",
    b"99999999999999999999",
    b"4294967296",
    b"\x00",
    b"\xff\xfe",
    b"{",
    b"[",
]
TOKENS += [b"[" * 3000, b"{frame}", b"{frame:999999999d}", b"../../x", b'"', b"\n", b"#", b"<", b"&a;", b"%n", b"1_000"]

NUMBERS = [
    b"-1",
    b"0",
    b"1",
    b"2",
    b"3",
    b"0.5",
    b"1e-320",
    b"1e300",
    b"1e400",
    b"nan",
    b"-inf",
    b"2147483648",
    b"1" * 20,
]
NUMBERS += [b"1e5", b"100000", b"1" * 5000, b"true", b'"x"', b"[]", b"{}", b"null"]

LONGEST = 300_000  # bytes of a repeated part
ENCODINGS = ("utf-16", "utf-16-be", "utf-32", "utf-8-sig", "cp500")
DOCTYPE = '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
PNG = b"\x89PNG\r\n\x1a\n"


def damaged(seeds: list[bytes], rng: np.random.Generator) -> bytes:
    """One of the seeds, damaged; archives and PNG files often inside, with valid checksums."""
    kind = rng.random()
    if kind < 0.04:
        return repeated(mutated(seeds, rng), rng)
    if kind < 0.06:
        return encoded(mutated(seeds, rng), rng)
    content = seeds[rng.integers(len(seeds))]
    if kind < 0.5 and zipfile.is_zipfile(io.BytesIO(content)):
        return _damaged_archive(content, rng)
    if kind < 0.5 and content.startswith(PNG):
        return _with_checksums(mutated([content], rng))
    return mutated(seeds, rng)


def mutated(seeds: list[bytes], rng: np.random.Generator) -> bytes:
    """One of the seeds, damaged in a few places."""
    content = bytearray(seeds[rng.integers(len(seeds))])
    for _ in range(1 + int(rng.geometric(0.6))):
        at = int(rng.integers(len(content) + 1))
        upto = min(len(content), at + int(rng.integers(1, 12)))
        match rng.integers(8):
            case 0:
                content[at:upto] = rng.bytes(upto - at)
            case 1:
                del content[at:upto]
            case 2:
                content[at:at] = TOKENS[rng.integers(len(TOKENS))]
            case 3:
                content[at:upto] = TOKENS[rng.integers(len(TOKENS))]
            case 4:
                del content[at:]
            case 6 | 7:
                numbers = list(re.finditer(rb"[0-9][0-9.e+-]*", content)) or [re.match(b"", content)]
                content[slice(*numbers[rng.integers(len(numbers))].span())] = NUMBERS[rng.integers(len(NUMBERS))]
            case _:
                other = seeds[rng.integers(len(seeds))]
                content[at:] = other[int(rng.integers(len(other) + 1)) :]
    return bytes(content)


def repeated(content: bytes, rng: np.random.Generator) -> bytes:
    """A part of the content, up to a few lines, many times: what takes quadratic time takes minutes now."""
    at = int(rng.integers(len(content) + 1))
    part = content[at : at + int(rng.geometric(0.1))] or b"\n"
    return content[:at] + part * (int(rng.integers(1, LONGEST)) // len(part)) + content[at:]


def encoded(content: bytes, rng: np.random.Generator) -> bytes:
    """A text in another encoding, perhaps with a document type after its first line."""
    text = content.decode("latin-1")
    if rng.random() < 0.5:
        first, end, rest = text.partition("\n")
        text = f"{first}{end}{DOCTYPE}{rest}"
    return text.encode(ENCODINGS[rng.integers(len(ENCODINGS))], errors="replace")


def _damaged_archive(content: bytes, rng: np.random.Generator) -> bytes:
    """An archive with one damaged member; checksums and sizes are those of the damaged member."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    names = list(members)
    chosen = names[rng.integers(len(names))]
    members[chosen] = mutated([members[chosen]], rng) if rng.random() < 0.9 else repeated(members[chosen], rng)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED if rng.random() < 0.5 else zipfile.ZIP_STORED) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return buffer.getvalue()


def _with_checksums(content: bytes) -> bytes:
    """A PNG file whose chunks have valid checksums, as far as there are chunks."""
    found, at = [content[:8]], 8
    while at + 12 <= len(content):
        (length,) = struct.unpack(">I", content[at : at + 4])
        chunk = content[at : at + 8 + length]
        found.append(chunk + struct.pack(">I", zlib.crc32(chunk[4:])))
        at += 12 + length
    return b"".join(found)
