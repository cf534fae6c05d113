"""Looking at JSON text token by piece, where the fast parser alters or cannot name something.

Used only for text the fast parser refused, or that may hold what it takes silently: integers
outside 64 bits, and keys named twice. It walks without recursion, so that neither depth nor
the stack of the caller matters.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import NoReturn

from journal.errors import InvalidJSON

MIN_INT = -(2**63)
MAX_INT = 2**64 - 1

_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:
        (?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+")
      | (?P<number>-?[0-9][0-9.eE+-]*)
      | (?P<mark>[\[\]{},:])
      | (?P<word>[A-Za-z-]+)
    )""",
    re.VERBOSE | re.DOTALL,
)
_SURROGATE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\\\")
_LONE = re.compile(r"\\u[dD][89abcdefABCDEF][0-9a-fA-F]{2}")


@dataclass(slots=True)
class _Box:
    """An array or object being walked."""

    is_object: bool
    at: int = 0
    key: str = ""
    wants_key: bool = True
    keys: set[str] = field(default_factory=set)


def inspect(text: str, deepest: int, *, unique_keys: bool) -> None:
    """Walk JSON text and refuse what must not pass, naming its path.

    Text that is not JSON at all may pass: the parser says what is wrong with it.

    Raises:
        InvalidJSON: an integer outside 64 bits, NaN or an infinity, a number too large for
            a double, a lone surrogate, nesting over `deepest`, or (with `unique_keys`) a
            key that its object names twice.
    """
    boxes: list[_Box] = []
    place = 0
    while found := _TOKEN.match(text, place):
        place = found.end()
        kind, piece = str(found.lastgroup), found[str(found.lastgroup)]
        if kind == "mark":
            _mark(boxes, piece, deepest)
        elif kind == "string":
            _string(boxes, piece, unique_keys=unique_keys)
        elif kind == "number":
            _number(boxes, piece)
        elif piece in {"NaN", "Infinity", "-Infinity"}:
            _refuse(boxes, f"{piece} is not a JSON number")


def member(path: str, key: str) -> str:
    """Extend a path by an object key, quoting keys that are not plain words."""
    if key.isidentifier():
        return f"{path}.{key}"
    return f'{path}["' + key.replace("\\", "\\\\").replace('"', '\\"') + '"]'


def _mark(boxes: list[_Box], piece: str, deepest: int) -> None:
    if piece in "[{":
        if len(boxes) == deepest:
            _refuse(boxes, f"nested deeper than {deepest}")
        boxes.append(_Box(is_object=piece == "{"))
    elif piece in "]}":
        if boxes:
            boxes.pop()
    elif boxes and piece == ",":
        boxes[-1].at += 1
        boxes[-1].wants_key = True
    elif boxes:
        boxes[-1].wants_key = False


def _string(boxes: list[_Box], piece: str, *, unique_keys: bool) -> None:
    is_key = bool(boxes) and boxes[-1].is_object and boxes[-1].wants_key
    if "\\u" in piece and _LONE.search(_SURROGATE.sub("", piece)):
        _refuse(boxes[:-1] if is_key else boxes, f"a lone surrogate in the string {piece[:60]}")
    if is_key:
        box = boxes[-1]
        box.key = _unescaped(piece)
        if unique_keys and box.key in box.keys:
            _refuse(boxes[:-1], f"key {box.key!r} is there twice in one object")
        box.keys.add(box.key)


def _unescaped(piece: str) -> str:
    if "\\" not in piece:
        return piece[1:-1]
    try:
        return str(json.loads(piece))
    except ValueError:
        return piece[1:-1]


def _number(boxes: list[_Box], piece: str) -> None:
    if piece.lstrip("-").isdigit():
        # int() itself refuses more than 4,300 digits, so the length is looked at first.
        if len(piece) > 21 or not MIN_INT <= int(piece) <= MAX_INT:
            shown = piece if len(piece) <= 30 else piece[:27] + "..."
            _refuse(boxes, f"integer {shown} does not fit 64 bits")
        return
    try:
        large = abs(float(piece)) == float("inf")
    except ValueError:
        return
    if large:
        _refuse(boxes, f"{piece[:30]} is too large for a double")


def _refuse(boxes: list[_Box], reason: str) -> NoReturn:
    path = "$"
    for box in boxes:
        path = member(path, box.key) if box.is_object else f"{path}[{box.at}]"
    raise InvalidJSON(path if len(path) <= 200 else path[:200] + "...", reason)
