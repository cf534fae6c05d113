"""Values for the cells of audit rows, from JSON of any shape."""

from __future__ import annotations

from binascii import b2a_base64
from hashlib import blake2b
from typing import Any

from journal.json_door import canonical, dumps
from journal.stores.audit import LARGEST
from journal.times import parse_time
from projections.order import whole

LONGEST = 2000
"""Characters of JSON that an unknown kind, or a host's own payload, shows at most."""

DIGEST = 8
"""Characters of a digest."""

_SMALLEST = -LARGEST


def saturated(value: Any) -> int:
    """Take a whole number; one that is too large for a cell is the largest there is.

    Raises:
        TypeError: it is none.
    """
    return max(_SMALLEST, min(whole(value), LARGEST))


def count(value: Any) -> int | None:
    """Take a counter that may be absent; see `saturated`."""
    return None if value is None else saturated(value)


def text_or_json(value: Any) -> str | None:
    """Show a value: a text as it is, anything else as compact JSON, nothing for null."""
    if value is None or type(value) is str:
        return value
    return dumps(value).decode()


def brief_json(value: Any) -> str | None:
    """Show a value as compact JSON, cut where it is long."""
    return None if value is None else dumps(value).decode()[:LONGEST]


def told(value: Any) -> str | None:
    """Take a text where there is one; what is empty, or of another type, tells nothing."""
    return value if type(value) is str and value else None


def host_time(value: Any) -> int | None:
    """Read a time that a host gave, in microseconds since the epoch; None where it is none."""
    if type(value) is not str:
        return None
    try:
        return parse_time(value)
    except ValueError:
        return None


def texts_of(content: Any) -> str | None:
    """Join the texts of what a person or a host put in: a text, or a list of parts."""
    if type(content) is str:
        return content or None
    if type(content) is not list:
        return None
    parts = [part for part in content if type(part) is dict and part.get("kind") == "text"]
    return "\n".join(text for part in parts if (text := told(part.get("text")))) or None


def digest(value: Any) -> str:
    """Give a short text that equal JSON has in common, whatever the order of its keys."""
    made = blake2b(canonical(value), digest_size=6).digest()
    return b2a_base64(made, newline=False).decode()
