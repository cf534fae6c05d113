"""The door for JSON: what comes in is checked once, and comes back equal by JSON type.

Refused, each with the path of the offender: NaN and infinities, integers outside 64 bits
(signed or unsigned), lone surrogates, keys that are not strings, numbers such as 1e400,
nesting deeper than `MAX_DEPTH`, documents over `MAX_BYTES`, Python values JSON cannot hold.

Paths are written like `$.state.message_history[3].parts`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import orjson

from journal.errors import InvalidJSON
from journal.json_text import MAX_INT, MIN_INT, inspect, member

JSON: TypeAlias = Any
"""A parsed JSON value: dict, list, str, int, float, bool or None."""

MAX_DEPTH = 200
"""Deepest nesting accepted; a scalar has depth 0, `[]` has depth 1."""

MAX_BYTES = 64 * 1024 * 1024
"""Largest document accepted, in bytes of compact UTF-8 JSON."""

_TEXT = (bytes, bytearray, memoryview)
STRICT = (
    orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)
# A run of 19 digits may be an integer that orjson would turn into a float silently. Looked
# for after digits became 0 and all else a space: ten times faster than a regular expression.
_DIGITS = bytes(0x30 if 0x30 <= byte <= 0x39 else 0x20 for byte in range(256))
_LONG_NUMBER = b"0" * 19


def dumps(value: JSON) -> bytes:
    """Encode an already accepted value as compact UTF-8 JSON, key order kept."""
    return orjson.dumps(value)


def canonical(value: JSON) -> bytes:
    """Encode with sorted keys: equal bytes exactly when equal by JSON type."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def equal(left: JSON, right: JSON) -> bool:
    """Tell whether two accepted values are the same JSON, ignoring key order.

    1, 1.0 and true are three values, and so are 0.0 and -0.0.
    """
    if left is right:
        return True
    return canonical(left) == canonical(right)


def loads(raw: bytes) -> JSON:
    """Decode JSON that the journal itself wrote; nothing is checked again."""
    return orjson.loads(raw)


def accept(
    source: Any, *, unique_keys: bool = False, max_bytes: int = MAX_BYTES, wrapped: int = 0
) -> tuple[JSON, bytes]:
    """Check a value at the door.

    Args:
        source: a mapping or other Python value made of JSON types, or JSON text as
            `bytes`, `bytearray` or `memoryview` (a `str` is a JSON string, not text to parse).
        unique_keys: refuse objects that name a key twice (only JSON text can).
        max_bytes: the largest document accepted, in bytes.
        wrapped: levels of wrapping around the records in it, allowed besides theirs.

    Returns:
        The value as plain dicts, lists and scalars, private to the caller, and its
        compact UTF-8 encoding.

    Raises:
        InvalidJSON: with the path of the first offender.
    """
    deepest = MAX_DEPTH + wrapped
    if type(source) is not dict and isinstance(source, _TEXT):
        _check_size(source, max_bytes)
        value, raw = _of_text(bytes(source), deepest, unique_keys)
    else:
        value, raw = _of_objects(source, deepest)
    if len(raw) > max_bytes:
        _check_size(raw, max_bytes)
    # Each level takes two brackets, so that a short text, or one with few of them, is flat.
    if len(raw) > 2 * deepest and raw.count(b"[") + raw.count(b"{") > deepest:
        _check_depth(value, deepest)
    return value, raw


def _check_size(raw: bytes | bytearray | memoryview, max_bytes: int) -> None:
    if len(raw) > max_bytes:
        raise InvalidJSON("$", f"{len(raw)} bytes, over the limit of {max_bytes}")


def _of_objects(source: Any, deepest: int) -> tuple[JSON, bytes]:
    try:
        raw = orjson.dumps(source, None, STRICT)
        value = orjson.loads(raw)
        if value == source and value is not None:
            return value, raw
    except (TypeError, ValueError, RecursionError):
        pass
    # What orjson refused, or wrote differently (NaN as null, a tuple as a list, ...), is
    # looked at by hand: refused with its path, or taken when JSON can hold it.
    value = _by_hand(source, deepest)
    return value, orjson.dumps(value)


def _of_text(text: bytes, deepest: int, unique_keys: bool) -> tuple[JSON, bytes]:  # noqa: FBT001
    try:
        value = orjson.loads(text)
        raw = orjson.dumps(value)
    except (orjson.JSONDecodeError, orjson.JSONEncodeError) as error:
        # What only the parser refuses (NaN, 1e400, a lone surrogate, depth) is looked at
        # token by token, so that the error can name its path.
        inspect(text.decode(errors="replace"), deepest, unique_keys=unique_keys)
        raise InvalidJSON("$", f"not JSON: {error}") from None
    # Text that comes back as it was lost nothing in the parser: no digit, no second key.
    if raw != text and (unique_keys or _LONG_NUMBER in text.translate(_DIGITS)):
        inspect(text.decode(), deepest, unique_keys=unique_keys)
    return value, raw


def _check_depth(value: JSON, deepest: int) -> None:
    level = [value]
    for _ in range(deepest):
        level = [
            item
            for box in level
            for item in (box.values() if type(box) is dict else box)
            if type(item) is dict or type(item) is list
        ]
        if not level:
            return
    raise InvalidJSON(_deepest_path(value, deepest), f"nested deeper than {deepest}")


def _deepest_path(value: JSON, deepest: int) -> str:
    level: list[tuple[str, JSON]] = [("$", value)]
    for _ in range(deepest):
        level = [
            (path, item)
            for at, box in level
            for path, item in _children(at, box)
            if isinstance(item, dict | list)
        ]
    path = level[0][0]
    return path if len(path) <= 200 else path[:200] + "..."


def _children(path: str, box: JSON) -> list[tuple[str, JSON]]:
    if isinstance(box, dict):
        return [(member(path, key), item) for key, item in box.items()]
    return [(f"{path}[{at}]", item) for at, item in enumerate(box)]


def _by_hand(source: Any, deepest: int) -> JSON:
    try:
        return _plain(source, "$", deepest)
    except RecursionError:
        raise InvalidJSON("$", "nested too deep for the stack that the caller left") from None


def _plain(source: Any, path: str, levels: int) -> JSON:
    if levels < 1 and isinstance(source, Mapping | list):
        raise InvalidJSON(path[:200], "nested too deep")
    match source:
        case None | True | False:
            return source
        case str():
            return _plain_text(source, path)
        case int():
            number = int(source)
            if not MIN_INT <= number <= MAX_INT:
                raise InvalidJSON(path, f"integer {_shown(number)} does not fit 64 bits")
            return number
        case float():
            if not math.isfinite(source):
                raise InvalidJSON(path, f"{source!r} is not a JSON number")
            return float(source)
        case Mapping():
            return _plain_object(source, path, levels)
        case list():
            return [_plain(item, f"{path}[{at}]", levels - 1) for at, item in enumerate(source)]
        case _:
            raise InvalidJSON(
                path, f"a {type(source).__name__} is not a JSON value; convert it before"
            )


def _plain_object(source: Mapping[Any, Any], path: str, levels: int) -> dict[str, JSON]:
    found: dict[str, JSON] = {}
    for key, item in source.items():
        if not isinstance(key, str):
            raise InvalidJSON(path, f"a key is a {type(key).__name__}, not a string")
        name = _plain_text(key, path)
        found[name] = _plain(item, member(path, name), levels - 1)
    return found


def _plain_text(source: str, path: str) -> str:
    text = str.__str__(source)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidJSON(path, f"a lone surrogate in the string {ascii(text)[:60]}") from None
    return text


def _shown(number: int) -> str:
    return str(number) if abs(number) < 10**30 else f"of {number.bit_length()} bits"
