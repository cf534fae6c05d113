"""Recorded text made fit to print: nothing in it can steer a terminal or break a line.

Escaped are control characters (C0, DEL, C1), formatting characters (bidirectional marks and
overrides, zero-width ones, tags), line and paragraph separators, lone surrogates, and code
points without a meaning; what `str.isprintable` denies, save the wide spaces.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from unicodedata import category

Write = Callable[[str], str]

_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_UNUSUAL = re.compile(r"[^ -~]+")
_UNUSUAL_IN_JSON = re.compile(r"[^\x00-~]+")

CUT = "…"
"""Stands where text was left out."""


def escape(text: str) -> str:
    r"""Write text on one printable line; `\n`, `\x1b`, `\u202e` stand for what is not."""
    return _UNUSUAL.sub(lambda found: _escaped(found[0], _python), text)


def escape_json(raw: bytes) -> bytes:
    r"""Write JSON with `\uXXXX` in place of what a terminal may act upon; its value stays.

    Args:
        raw: compact UTF-8 JSON, in which C0 controls are escaped already.
    """
    if raw.isascii() and b"\x7f" not in raw:
        return raw
    return _UNUSUAL_IN_JSON.sub(lambda found: _escaped(found[0], _utf16), raw.decode()).encode()


def shorten(text: str, limit: int) -> str:
    """Cut text to `limit` characters, the last a mark where something was left out."""
    return text if len(text) <= limit else text[: limit - 1] + CUT


def shorten_middle(text: str, limit: int) -> str:
    """Cut the middle out of a text, so that both its ends can be told."""
    if len(text) <= limit:
        return text
    head = (limit - 1) // 2
    return text[:head] + CUT + text[len(text) - (limit - 1 - head) :]


def _escaped(run: str, write: Write) -> str:
    if run.isprintable():
        return run
    return "".join(one if one.isprintable() or category(one) == "Zs" else write(one) for one in run)


def _python(one: str) -> str:
    code = ord(one)
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return _SHORT.get(one) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def _utf16(one: str) -> str:
    units = one.encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
