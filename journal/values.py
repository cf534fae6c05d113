"""Large strings: the values of an event that are likely to stand in other events too.

The same tool result stands in a stream record, in the checkpoints around it and in the
exported context; the same picture in several messages. A store that is told which large
strings an event holds can store them once (`journal.stores.repeated`).
"""

from __future__ import annotations

from collections.abc import Iterator

from journal.json_door import JSON, loads

LARGE = 200
"""Characters from which a string is worth a fingerprint."""

WORTH_LOOKING = 2 * LARGE
"""Bytes of an event's JSON from which it is worth looking for large strings in it."""


def fingerprints(value: JSON) -> tuple[int, ...]:
    """Give a fingerprint of each large string in a value, in no order; keys do not count.

    Equal strings have equal fingerprints within a process; another process has others.
    """
    found = []
    waiting = [value]
    while waiting:
        item = waiting.pop()
        kind = type(item)
        if kind is dict:
            waiting.extend(item.values())
        elif kind is list:
            waiting.extend(item)
        elif kind is str and len(item) >= LARGE:
            found.append(hash(item))
    return tuple(found)


def large_strings(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Find the large strings in an event's JSON, in order, among them no keys.

    Yields:
        Where the text between its quotes begins and ends, and its fingerprint.
    """
    # With what is escaped out of the way, every second piece between quotes is a string.
    bare = data.replace(rb"\\", b"__").replace(rb"\"", b"__") if b"\\" in data else data
    lengths = [*map(len, bare.split(b'"'))]
    end = -1
    for between, length in zip(lengths[::2], lengths[1::2], strict=False):
        start = end + between + 2
        end = start + length
        if length >= LARGE and data[end + 1 : end + 2] != b":":
            text = _text(data[start - 1 : end + 1])
            if len(text) >= LARGE:
                yield start, end, hash(text)


def _text(data: bytes) -> str:
    try:
        text: str = loads(data)
    except ValueError:
        return ""  # the data is not JSON
    return text
