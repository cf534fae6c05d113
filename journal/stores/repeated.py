"""Codec 3: an event whose large strings stand in earlier rows of its stream.

FORMAT.md describes the bytes. The rows named are never of this codec themselves, so that
reading a row takes one step back and no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

from journal.compress import LIMIT

MOST_BASES = 64
"""Rows that one row may name."""

MOST_BYTES = LIMIT
"""Bytes of JSON of the rows that one row names, together."""

_LONGEST = 9
"""Bytes of a number, 7 bits each."""


class Copy(NamedTuple):
    """A part of an event that is taken from a base."""

    at: int
    """Where it stands in the event's JSON."""
    base: int
    """Which of the bases named, from 0."""
    start: int
    """Where it stands in the base's JSON."""
    length: int


class Repeated(NamedTuple):
    """A row of codec 3, taken apart."""

    crc: int
    """CRC-32 of the event's JSON."""
    distances: list[int]
    """How many versions before this one each base stands."""
    copies: list[Copy]
    """In the order of the event; they do not overlap."""
    literals: bytes
    """A frame: what is not copied, in one piece."""


def literals_of(data: bytes, copies: Sequence[Copy]) -> bytes:
    """Give what of an event's JSON is not copied."""
    pieces = []
    end = 0
    for copy in copies:
        pieces.append(data[end : copy.at])
        end = copy.at + copy.length
    pieces.append(data[end:])
    return b"".join(pieces)


def encode(row: Repeated) -> bytes:
    """Write a row of codec 3."""
    numbers = [len(row.distances), *row.distances, len(row.copies)]
    end = 0
    for copy in row.copies:
        numbers += (copy.at - end, copy.base, copy.start, copy.length)
        end = copy.at + copy.length
    head = bytearray(row.crc.to_bytes(4, "big"))
    for number in numbers:
        left = number
        while left > 0x7F:
            head.append(left & 0x7F | 0x80)
            left >>= 7
        head.append(left)
    return bytes(head) + row.literals


def decode(blob: bytes) -> Repeated:
    """Take a row of codec 3 apart.

    Raises:
        ValueError: it is not one.
    """
    numbers = _Numbers(blob, 4)
    count = numbers.next()
    if not 1 <= count <= MOST_BASES:
        raise ValueError(f"it names {count} rows, not 1 to {MOST_BASES}")
    distances = [numbers.next() for _ in range(count)]
    if not all(distances):
        raise ValueError("it names itself")
    copies = []
    end = 0
    for _ in range(numbers.next()):
        at = end + numbers.next()
        copy = Copy(at, numbers.next(), numbers.next(), numbers.next())
        end = at + copy.length
        if copy.base >= count or end > LIMIT:
            raise ValueError("it copies from a row it does not name, or too much")
        copies.append(copy)
    return Repeated(int.from_bytes(blob[:4], "big"), distances, copies, blob[numbers.at :])


def join(row: Repeated, literals: bytes, bases: Sequence[bytes]) -> bytes:
    """Put an event's JSON together.

    Args:
        literals: decompressed.
        bases: the JSON of the rows named, in that order.

    Raises:
        ValueError: it is not the event that was stored.
    """
    if len(literals) + sum([copy.length for copy in row.copies]) > LIMIT:
        raise ValueError(f"it is more than {LIMIT} bytes")
    pieces = []
    used = end = 0
    for copy in row.copies:
        literal = copy.at - end
        pieces.append(literals[used : used + literal])
        pieces.append(bases[copy.base][copy.start : copy.start + copy.length])
        used += literal
        end = copy.at + copy.length
    pieces.append(literals[used:])
    data = b"".join(pieces)
    if crc32(data) != row.crc:
        raise ValueError("together with them it is not what was stored")
    return data


class _Numbers:
    """Reads numbers of 7 bits a byte, the lowest first; the last byte is below 128."""

    def __init__(self, blob: bytes, at: int) -> None:
        self._blob = blob
        self.at = at

    def next(self) -> int:
        number = 0
        for place in range(_LONGEST):
            if self.at >= len(self._blob):
                break
            byte = self._blob[self.at]
            self.at += 1
            number |= (byte & 0x7F) << 7 * place
            if byte < 0x80:
                return number
        raise ValueError("it is cut short, or a number in it is too long")
